package record

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/value"
)

// TestInfiniteNumbers are shown as texts: JSON has no such numbers, and one variable must
// not keep a whole record from being written.
func TestInfiniteNumbers(t *testing.T) {
	t.Parallel()
	v := value.NewList([]value.Value{types.Double(math.NaN()), types.Double(math.Inf(-1)), types.Double(1.5), types.Int(2)})
	for hidden, want := range map[bool]string{
		false: `["NaN","-Inf",1.5,2]`,
		true:  `["` + HiddenValue + `","` + HiddenValue + `","` + HiddenValue + `","` + HiddenValue + `"]`,
	} {
		got, err := json.Marshal(renderer{hidden: hidden}.value(v))
		if err != nil || string(got) != want {
			t.Errorf("hidden %v: %s, %v", hidden, got, err)
		}
	}
}
