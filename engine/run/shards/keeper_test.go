package shards

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKeeperAsksAll: a policy is evaluated again as soon as all replicas act on the version of
// the roster in which it was first read that none evaluates it, or on a later one.
func TestKeeperAsksAll(t *testing.T) {
	t.Parallel()
	var k Keeper
	now, at := Placement{}, time.Unix(0, 0)
	led := Placement{"p": Led}
	for _, step := range []struct {
		name, version, all string // all replicas have seen this version
		needs, want        Placement
	}{
		{"it is needed", "1", "1", led, Placement{"p": Gathering}},
		{"it is gathered, and nobody has seen it", "3", "1", led, Placement{"p": Gathering}},
		{"all have seen an earlier version", "4", "2", led, Placement{"p": Gathering}},
		{"all have seen it", "5", "3", led, led},
		{"it is led", "6", "5", led, led},
		{"it is no longer needed", "7", "6", nil, Placement{"p": Scattering}},
		{"nobody has seen that", "8", "7", nil, Placement{"p": Scattering}},
		{"it is needed again", "9", "7", led, Placement{"p": Gathering}},
		{"all have seen that it is scattered", "9a", "8", led, Placement{"p": Gathering}},
	} {
		at = at.Add(time.Second)
		saw := func(version string) bool { return step.all >= version }
		now = k.Next(now, step.needs, Look{at, step.version}, time.Minute, saw)
		if diff := cmp.Diff(step.want, now); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
}

// TestSaw: a version counts as seen when no live replica may act on an earlier one.
func TestSaw(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	for name, tc := range map[string]struct {
		self   string
		others []Replica
		want   bool
	}{
		"alone":                       {"10", nil, true},
		"alone, and not yet":          {"9", nil, false},
		"all":                         {"10", []Replica{{Identity: "a", Shards: 4, Seen: "11"}, {Identity: "b", Shards: 4, Seen: "100"}}, true},
		"one has seen an earlier one": {"10", []Replica{{Identity: "a", Shards: 4, Seen: "11"}, {Identity: "b", Shards: 4, Seen: "9"}}, false},
		"one does not say":            {"10", []Replica{{Identity: "a", Shards: 4, Seen: "11"}, {Identity: "b", Shards: 4}}, false},
		"one says something odd":      {"10", []Replica{{Identity: "a", Shards: 4, Seen: "x"}}, false},
		"one counts other shards":     {"10", []Replica{{Identity: "a", Shards: 8}}, false},
		"one has died":                {"10", []Replica{{Identity: "dead", Shards: 4, Seen: "9"}}, true},
	} {
		r := Roster{Self: Replica{Identity: "m", Shards: 4, Seen: tc.self}, Duration: 15 * time.Second}
		for _, at := range []time.Duration{0, 20 * time.Second} {
			annotations := map[string]string{}
			for _, one := range tc.others {
				if one.Identity != "dead" {
					one.Beat = int64(at)
				}
				annotations[one.Name()] = one.Text()
			}
			if err := r.Read(annotations, begin.Add(at), begin.Add(at)); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.Saw("10"); got != tc.want {
			t.Errorf("%s: it counts as seen: %t", name, got)
		}
	}
}

// TestSettled: nothing is under way by an earlier placement when the evaluations have ended of
// the policies that nobody evaluates any more, and no shard is being released.
func TestSettled(t *testing.T) {
	t.Parallel()
	p, other, own := spreadPolicy(), spreadPolicy(), NewOwnership(1)
	other.Name = "other"
	own.Open(0)
	_, end, _ := own.Begin(p, key(1))
	_, endAgain, _ := own.Begin(p, key(2))
	_, endOther, _ := own.Begin(other, key(1))
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"it is evaluated", func() {}, true},
		{"it is gathered", func() { own.Place(Placement{"p": Gathering}) }, false},
		{"one evaluation has ended", end, false},
		{"all have ended", endAgain, true},
		{"it is led", func() { own.Place(Placement{"p": Led}) }, true},
		{"another one is scattered", func() { own.Place(Placement{"p": Led, "other": Scattering}) }, false},
		{"it has ended, too", endOther, true},
		{"the shard is released", func() {
			if err := own.Drain(t.Context(), 0); err != nil {
				t.Error(err)
			}
		}, false},
		{"it was released", func() { own.Close(0) }, true},
	} {
		if step.do(); own.Settled() != step.want {
			t.Errorf("%s: settled: %t", step.name, !step.want)
		}
	}
}
