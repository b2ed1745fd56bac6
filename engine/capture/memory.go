package capture

import (
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
)

// remembered returns what the key recalled, as tests write it.
func remembered(r *record.Record) map[string]any {
	values := map[string]any{}
	for name, v := range r.Inputs.Recalled() {
		if v != nil {
			values[name] = simulate.MemoryValue(v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return map[string]any{r.Inputs.Policy.Name: map[string]any{r.Inputs.Key.String(): values}}
}
