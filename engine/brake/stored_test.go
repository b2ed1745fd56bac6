package brake

import (
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// TestStored: what the API server makes of a value is no change of it, and anything else is.
func TestStored(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		was, now any
		same     bool
	}{
		"a quantity as a number":    {"500m", 0.5, true},
		"a quantity":                {"1Gi", "1024Mi", true},
		"another quantity":          {"1Gi", "1000Mi", false},
		"a time in another zone":    {"2026-01-01T10:00:00Z", "2026-01-01T12:00:00+02:00", true},
		"a time without its part":   {"2026-01-01T10:00:00Z", "2026-01-01T10:00:00.500Z", true},
		"another time":              {"2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z", false},
		"a text":                    {"a", "b", false},
		"a text that is there":      {"a", "a", true},
		"nothing":                   {nil, "1", false},
		"what is removed":           {"1", nil, false},
		"a list with defaults":      {[]any{map[string]any{"port": int64(80), "protocol": "TCP"}}, []any{map[string]any{"port": int64(80)}}, true},
		"a list of another length":  {[]any{"a"}, []any{"a", "b"}, false},
		"an item that has changed":  {[]any{map[string]any{"port": int64(80)}}, []any{map[string]any{"port": int64(81)}}, false},
		"a map in place of a text":  {"a", map[string]any{"b": "c"}, false},
		"a list in place of a text": {"a", []any{"a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stored(of(tc.was), of(tc.now)); got != tc.same {
				t.Errorf("got %t", got)
			}
		})
	}
}

func of(v any) value.Value {
	if v == nil {
		return nil
	}
	return value.Freeze(v, nil, value.KeepAll)
}
