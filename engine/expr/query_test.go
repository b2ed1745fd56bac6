package expr_test

import (
	"math"
	"testing"

	"github.com/edict-dev/edict/engine/expr"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, score := range []int64{0, 1, -1, 17, math.MaxInt64, math.MinInt64 + 1} {
		if v := expr.Kept(score); !v.Keep() || v.Score() != score {
			t.Errorf("kept with %d: %v, %d", score, v.Keep(), v.Score())
		}
	}
	if v := expr.Kept(math.MinInt64); !v.Keep() || v.Score() != math.MinInt64+1 {
		t.Errorf("the lowest number: %v, %d", v.Keep(), v.Score())
	}
	var zero expr.Verdict
	if zero.Keep() || zero.Score() != 0 {
		t.Errorf("the zero verdict: %v, %d", zero.Keep(), zero.Score())
	}
}
