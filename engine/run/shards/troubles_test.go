package shards

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTell: an announcement stays small however much is wrong. Texts are cut first; only
// when the policies alone are too much, some are left out and counted.
func TestTell(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shards, policies, text int
		want, cut              int // how many are told, and the length of their texts
	}{
		"nothing":                {4, 0, 0, 0, 0},
		"one":                    {4, 1, 100, 1, 100},
		"one with a long text":   {4, 1, 5000, 1, 512},
		"ten with long texts":    {4, 10, 5000, 10, 256},
		"twenty with long texts": {16, 20, 5000, 20, 32},
		"too many":               {4, 1000, 5000, 31, 32},
		"many shards":            {64, 20, 5000, 7, 32},
	} {
		var all []Trouble
		for i := range tc.policies {
			all = append(all, Trouble{Policy: fmt.Sprint("p", i), Revision: "12345678", Failing: 3, Objects: 10, Kind: "Node", Name: "n", Error: strings.Repeat("x", tc.text)})
		}
		r := Replica{Identity: "a", Shards: tc.shards}
		r.tell(all)
		if len(r.Troubles) != tc.want || r.More != tc.policies-tc.want {
			t.Errorf("%s: %d are told and %d not, want %d", name, len(r.Troubles), r.More, tc.want)
		}
		if len(r.Troubles) > 0 && len(r.Troubles[0].Error) != tc.cut {
			t.Errorf("%s: a text has %d bytes", name, len(r.Troubles[0].Error))
		}
		if limit := min(maxTroubles, maxAllTroubles/tc.shards); len(r.Text()) > limit+200 {
			t.Errorf("%s: the announcement has %d bytes", name, len(r.Text()))
		}
		if tc.policies > 0 && len(all[0].Error) != tc.text {
			t.Errorf("%s: what was given has changed", name)
		}
	}
}

// TestIdleIsToldFirst: why a revision does not run is told also if there is no room for all
// that fails.
func TestIdleIsToldFirst(t *testing.T) {
	t.Parallel()
	var all []Trouble
	for i := range 1000 {
		all = append(all, Trouble{Policy: fmt.Sprint("p", i), Revision: "12345678", Failing: 3})
	}
	all = append(all, Trouble{Policy: "q", Revision: "2", Idle: "no kind"})
	r := Replica{Identity: "a", Shards: 4}
	r.tell(all)
	if r.More == 0 || r.Troubles[0].Policy != "q" || r.Troubles[1].Policy != "p0" || all[0].Policy != "p0" {
		t.Errorf("%d are left out, the first are %v", r.More, r.Troubles[:2])
	}
}

// TestOthers: what is wrong in a replica is known while it is live, and announces as many
// shards; one of another release announces nothing that is wrong.
func TestOthers(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	wrong := []Trouble{{Policy: "p", Revision: "r", Stopped: "patch on nodes"}}
	r := Roster{Self: Replica{Identity: "m", Shards: 4, Troubles: wrong}, Duration: 15 * time.Second}
	annotations := map[string]string{}
	for _, one := range []Replica{
		{Identity: "m", Shards: 4, Troubles: wrong}, {Identity: "a", Shards: 4, Troubles: wrong, More: 2}, {Identity: "b", Shards: 8, Troubles: wrong},
	} {
		annotations[one.Name()] = one.Text()
	}
	older := Replica{Identity: "older"}
	annotations[older.Name()] = `{"identity":"older","shards":4,"held":[3],"beat":1}`
	newer := Replica{Identity: "newer"}
	annotations[newer.Name()] = `{"identity":"newer","shards":4,"beat":1,"troubles":[{"policy":"q","revision":"r","later":1}]}`
	got := func(at time.Duration) map[string]Replica {
		t.Helper()
		if err := r.Read(annotations, begin.Add(at), begin.Add(at)); err != nil {
			t.Fatal(err)
		}
		out := map[string]Replica{}
		for _, one := range r.Others() {
			out[one.Identity] = one
		}
		return out
	}
	want := map[string]Replica{
		"a": {Identity: "a", Shards: 4, Troubles: wrong, More: 2}, "older": {Identity: "older", Shards: 4, Held: []int{3}, Beat: 1},
		"newer": {Identity: "newer", Shards: 4, Beat: 1, Troubles: []Trouble{{Policy: "q", Revision: "r"}}},
	}
	if diff := cmp.Diff(want, got(0)); diff != "" {
		t.Error(diff)
	}
	if dead := got(15 * time.Second); len(dead) > 0 {
		t.Errorf("of dead replicas there is %v", dead)
	}
	var before struct { // what a release reads that does not know troubles
		Identity string
		Shards   int
	}
	if one := (Replica{Identity: "a", Shards: 4, Troubles: wrong}); json.Unmarshal([]byte(one.Text()), &before) != nil || before.Shards != 4 {
		t.Errorf("it reads %v", before)
	}
}

// TestNewsOfTroubles: that a revision does not run is news, and what fails is not.
func TestNewsOfTroubles(t *testing.T) {
	t.Parallel()
	idle := func(revision, why string) Trouble { return Trouble{Policy: "p", Revision: revision, Idle: why} }
	fails := Trouble{Policy: "q", Revision: "1", Failing: 3}
	r := Roster{Self: Replica{Identity: "a", Shards: 4}}
	for _, step := range []struct {
		name string
		all  []Trouble
		news bool
	}{
		{"nothing", nil, false},
		{"something fails", []Trouble{fails}, false},
		{"one does not run", []Trouble{idle("2", "no kind"), fails}, true},
		{"for another reason", []Trouble{idle("2", "no permission"), fails}, false},
		{"another one", []Trouble{idle("3", "no permission")}, true},
		{"all run", nil, true},
	} {
		before := r.Self.told()
		if news := r.Tell(step.all); news != step.news || r.Self.told().equal(before) == step.news {
			t.Errorf("%s: news: %t", step.name, news)
		}
	}
}
