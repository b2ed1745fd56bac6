package duration

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	checkParsed(t, 0, map[string]value.Value{
		"90s": value.OfDuration(90 * time.Second), "1h30m": value.OfDuration(90 * time.Minute), "-5m": value.OfDuration(-5 * time.Minute),
		"1d": nil, "": nil, "soon": nil,
	})
	checkParsed(t, 1, map[string]value.Value{
		"2026-03-01T12:00:00Z": value.OfTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), "2026-03-01T12:00:00.5+01:00": value.OfTime(time.Date(2026, 3, 1, 11, 0, 0, 5e8, time.UTC)),
		"2026-02-31T12:00:00Z": nil, "2026-03-01": nil, "2026-03-01T12:00:00": nil, "1772366400": nil, "": nil, "0000-01-01T00:00:00Z": nil, "2026-03-01T12:00:00,5Z": nil,
	})
}

// checkParsed calls a function with texts, nil being none.
func checkParsed(t *testing.T, function int, parsed map[string]value.Value) {
	t.Helper()
	for text, want := range parsed {
		got, err := Functions()[function].Do(nil, []value.Value{value.OfString(text)})
		if err != nil {
			t.Fatal(err)
		}
		if wanted := value.Some(want); want == nil && got != value.None || want != nil && !value.IsTrue(got.Equal(wanted)) {
			t.Errorf("%q = %v, want %v", text, got, want)
		}
	}
}
