package duration

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]value.Value{
		"90s": value.OfDuration(90 * time.Second), "1h30m": value.OfDuration(90 * time.Minute), "-5m": value.OfDuration(-5 * time.Minute),
		"1d": nil, "": nil, "soon": nil,
	} {
		got, err := Functions()[0].Do(nil, []value.Value{value.OfString(text)})
		if err != nil {
			t.Fatal(err)
		}
		if wanted := value.Some(want); want == nil && got != value.None || want != nil && !value.IsTrue(got.Equal(wanted)) {
			t.Errorf("%q = %v, want %v", text, got, want)
		}
	}
}
