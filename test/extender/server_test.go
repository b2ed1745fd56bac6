package extender_test

import (
	"math"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/extender"
)

// TestScores follows the formula: the rounded logarithm of the whole percents
// that are left.
func TestScores(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]string{ // of a pool of 1000
		1: "a=7", 10: "a=7", 94: "a=6", 100: "a=6", 95: "a=6", 540: "a=6", 541: "a=5", 770: "a=5", 780: "a=4", 880: "a=4", 890: "a=3",
		940: "a=3", 950: "a=2", 970: "a=2", 980: "a=1", 990: "a=1", 995: "a=1", 1000: "a=1", 1001: "",
	} {
		if got := newWorld(t, map[string]int64{"a": 1000}).score("x", "1m", size, "a"); got != want {
			t.Errorf("%d of 1000 leaves %q, want %q", size, got, want)
		}
	}
	large := newWorld(t, map[string]int64{"a": math.MaxInt64})
	want(t, "the largest pool", large.score("x", "1m", math.MaxInt64/2, "a"), "a=6")
	want(t, "all of it", large.score("x", "1m", math.MaxInt64, "a"), "a=1")
}

func TestFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.SetCapacity(map[extender.Pool]extender.Capacity{
		at("a"): {Size: 100, Used: 50}, at("a/t"): {Size: 100}, at("b"): {Size: 100}, at("full"): {Size: 100, Used: 100},
		at("over"): {Size: 100, Used: math.MaxInt64}, at("none"): {},
	})
	all := []string{"none", "over", "full", "b", "a", "a/t", "unknown", "a/unknown", "b"}
	want(t, "sorted by score, name and thin pool", w.score("x", "1m", 50, all...), "a/t=6 b=6 a=1")
	want(t, "on all that are kept", w.reserved(), "x: a a/t b for 50 until 1m0s")
	want(t, "nothing is kept", w.score("x", "1m", 101, all...), "")
	want(t, "and nothing reserved", w.reserved(), "")
	want(t, "a size near the limit of numbers", w.score("x", "1m", math.MaxInt64, all...), "")
}

// TestReservations: they count for others, not for the one that made them, and
// until they expire.
func TestReservations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100, "b": 200})
	want(t, "the first", w.score("x", "10s", 60, "a", "b"), "b=6 a=5")
	want(t, "another one", w.score("y", "20s", 60, "a", "b"), "b=5")
	want(t, "the first again", w.score("x", "10s", 100, "a", "b"), "b=4 a=1")
	want(t, "both", w.reserved(), "x: a b for 100 until 10s; y: b for 60 until 20s")
	want(t, "a third", w.score("z", "1s", 41, "a", "b"), "")
	w.after(10*time.Second - 1)
	want(t, "a moment before", w.score("z", "1s", 41, "a", "b"), "")
	w.after(10 * time.Second)
	want(t, "the first has expired", w.score("z", "1s", 41, "a", "b"), "a=6 b=6")
	want(t, "what is left", w.reserved(), "y: b for 60 until 20s; z: a b for 41 until 11s")
	w.after(time.Hour)
	want(t, "in the end", w.reserved(), "")
}

func TestNarrowing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100, "a/t": 100, "b": 100})
	w.score("x", "2s", 60, "a", "a/t", "b")
	w.after(time.Second)
	w.narrow("x", "1m", "a/t")
	want(t, "to one", w.reserved(), "x: a/t for 60 until 1m1s")
	want(t, "the others are free", w.score("y", "1s", 60, "a", "a/t", "b"), "a=5 b=5")
	w.narrow("unknown", "1m", "a")
	want(t, "an unknown one", w.reserved(), "x: a/t for 60 until 1m1s; y: a b for 60 until 2s")
	w.narrow("x", "1m", "a/t")
	w.after(time.Minute)
	w.narrow("y", "1h", "a")
	want(t, "it had expired", w.reserved(), "x: a/t for 60 until 1m1s")
	w.narrow("x", "1m", "b")
	want(t, "to a pool that is not its own", w.reserved(), "")
}

// TestLessCapacity: what is reserved may be more than there is.
func TestLessCapacity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": math.MaxInt64})
	w.score("x", "1m", math.MaxInt64, "a")
	w.SetCapacity(map[extender.Pool]extender.Capacity{at("a"): {Size: 100}})
	want(t, "nothing is left", w.score("y", "1m", 1, "a"), "")
	want(t, "the reservation stays", w.reserved(), "x: a for 9223372036854775807 until 1m0s")
}
