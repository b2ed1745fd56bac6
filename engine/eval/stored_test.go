package eval

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// typed is an object with fields that an API server stores in forms of its own.
var typed = &schema.Type{Kind: schema.Object, Name: "T", Fields: map[string]*schema.Type{
	"at": {Kind: schema.Time}, "second": {Kind: schema.Time, Cut: time.Second}, "micro": {Kind: schema.Time, Cut: time.Microsecond},
	"text": {Kind: schema.String}, "guess": {Kind: schema.Dyn, Guess: true},
	"times": {Kind: schema.List, Elem: &schema.Type{Kind: schema.Time}},
}}

// object freezes plain fields as an informer does.
func object(fields map[string]any) *value.Map {
	m, _ := value.Freeze(fields, typed, value.KeepAll).(*value.Map)
	return m
}

// TestTimesAreCompared: a time that is wanted is the one that is stored when it is the same
// instant, as far as the API server keeps it.
func TestTimesAreCompared(t *testing.T) {
	t.Parallel()
	const noon = "2026-01-01T12:00:00Z"
	at := func(text string) value.Value {
		out, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return value.OfTime(out)
	}
	text := value.OfString
	for name, tc := range map[string]struct {
		field  string
		stored any
		want   value.Value
		same   bool
		// read is whether the rules below read a time where another one is written.
		read bool
	}{
		"a fraction of nothing":              {"at", noon, text("2026-01-01T12:00:00.000Z"), true, false},
		"an offset":                          {"at", noon, text("2026-01-01T14:00:00+02:00"), true, false},
		"a time for a text":                  {"at", "2026-01-01T14:00:00.000+02:00", at(noon), true, false},
		"another time":                       {"at", noon, text("2026-01-01T12:00:00.001Z"), false, true},
		"no time":                            {"at", noon, text("noon"), false, false},
		"the same text that is no time":      {"at", "noon", text("noon"), true, false},
		"none":                               {"at", noon, value.Null, false, false},
		"a fraction of a second":             {"second", noon, text("2026-01-01T12:00:00.500Z"), true, false},
		"a time with a fraction of a second": {"second", noon, at("2026-01-01T12:00:00.999Z"), true, false},
		"another second":                     {"second", noon, text("2026-01-01T12:00:01Z"), false, false},
		"a fraction of a microsecond":        {"micro", "2026-01-01T12:00:00.000001Z", text("2026-01-01T12:00:00.0000019Z"), true, false},
		"another microsecond":                {"micro", noon, text("2026-01-01T12:00:00.000001Z"), false, false},
		"a text":                             {"text", noon, text("2026-01-01T12:00:00.000Z"), false, false},
		"a time for another text":            {"text", "2026-01-01T12:00:00.000Z", at(noon), false, false},
		"times in a list":                    {"times", []any{noon}, value.NewList([]value.Value{text("2026-01-01T14:00:00+02:00")}), true, false},
		"a field without a schema":           {"guess", map[string]any{"startTime": noon}, value.Field("startTime", text("2026-01-01T12:00:00.000Z")), true, false},
		"a text without a schema":            {"guess", map[string]any{"start": noon}, value.Field("start", text("2026-01-01T12:00:00.000Z")), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, patch := mergeDiff(object(map[string]any{tc.field: tc.stored}), value.Field(tc.field, tc.want), typed)
			if (patch == nil) != tc.same {
				t.Errorf("the patch is %v", patch)
			}
			if _, isTime := value.Time(value.Path(next, "at")); tc.field == "at" && !tc.same && isTime != tc.read {
				t.Errorf("the rules below read %v", next)
			}
		})
	}
}
