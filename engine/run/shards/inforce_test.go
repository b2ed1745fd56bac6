package shards

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTellInForce: revisions are announced as long as they fit, and only what is otherwise
// than before is news.
func TestTellInForce(t *testing.T) {
	t.Parallel()
	some := func(n int) map[string]string {
		out := map[string]string{}
		for i := range n {
			out[fmt.Sprintf("a-policy-with-a-long-name-%03d", i)] = "123456789012"
		}
		return out
	}
	r := Roster{Self: Replica{Identity: "a", Shards: 8}}
	for _, step := range []struct {
		name       string
		now        map[string]string
		news, told bool
	}{
		{"nothing is said", nil, false, false},
		{"nothing runs", map[string]string{}, true, true},
		{"the same", map[string]string{}, false, true},
		{"many run", some(150), true, true},
		{"the same many", some(150), false, true},
		{"another revision", map[string]string{"p": "2"}, true, true},
		{"too many run", some(400), true, false},
		{"even more", some(401), false, false},
	} {
		if news := r.TellInForce(step.now); news != step.news || (r.Self.InForce != nil) != step.told {
			t.Errorf("%s: news: %t, and it is told: %v", step.name, news, r.Self.InForce != nil)
		}
		if n := len(r.Self.Text()); n > maxInForce+200 {
			t.Errorf("%s: the announcement has %d bytes", step.name, n)
		}
	}
}

// TestInForceOfOthers: a replica that runs nothing is not one that does not say what it runs,
// and one that has died is not known.
func TestInForceOfOthers(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	r := Roster{Self: Replica{Identity: "m", Shards: 4}, Duration: 15 * time.Second}
	annotations := map[string]string{}
	for _, one := range []Replica{
		{Identity: "m", Shards: 4, InForce: map[string]string{"p": "0"}}, {Identity: "a", Shards: 4, InForce: map[string]string{"p": "1"}},
		{Identity: "b", Shards: 4, InForce: map[string]string{}}, {Identity: "c", Shards: 8, InForce: map[string]string{"p": "1"}},
	} {
		annotations[one.Name()] = one.Text()
	}
	older := Replica{Identity: "older"}
	annotations[older.Name()] = `{"identity":"older","shards":4,"held":[3],"beat":1}`
	read := func(at time.Duration) InForce {
		t.Helper()
		if err := r.Read(annotations, begin.Add(at), begin.Add(at)); err != nil {
			t.Fatal(err)
		}
		return r.InForce()
	}
	read(0)
	for range 10 { // else the status would be written again and again
		if all := r.Others(); len(all) != 3 || all[0].Identity != "a" || all[2].Identity != "older" {
			t.Fatalf("the others are %v", all)
		}
	}
	want := InForce{"a": {"p": "1"}, "b": {}, "older": nil}
	if diff := cmp.Diff(want, read(0)); diff != "" {
		t.Error(diff)
	}
	if dead := read(15 * time.Second); len(dead) > 0 {
		t.Errorf("of dead replicas there is %v", dead)
	}
	other := maps.Clone(want)
	if other["older"] = (map[string]string{}); want.Equal(other) || !want.Equal(maps.Clone(want)) {
		t.Error("a replica that runs nothing is the same as one that does not say what it runs")
	}
}
