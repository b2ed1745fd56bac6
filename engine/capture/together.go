package capture

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
)

// together puts the parts of an object together that were read from several sources:
// each keeps the fields that are read of it.
func together(list []simulate.Object) (out []simulate.Object) {
	at := map[[4]string]int{}
	for _, o := range list {
		metadata, _ := o["metadata"].(map[string]any)
		id := [4]string{text(o["apiVersion"]), text(o["kind"]), text(metadata["namespace"]), text(metadata["name"])}
		if i, known := at[id]; known {
			out[i], _ = both(out[i], o).(map[string]any)
			continue
		}
		at[id] = len(out)
		out = append(out, o)
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// both returns two parts of one value together.
func both(a, b any) any {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return a
		}
		out := maps.Clone(x)
		for name, v := range y {
			if have, known := out[name]; known {
				v = both(have, v)
			}
			out[name] = v
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return a
		}
		out := slices.Clone(x)
		for i := range out {
			out[i] = both(x[i], y[i])
		}
		return out
	case nil:
		return b
	default:
		return a
	}
}
