package shards

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTellInForce: revisions are announced as long as they fit, and only what is otherwise
// than before is news.
func TestTellInForce(t *testing.T) {
	t.Parallel()
	r := Roster{Self: Replica{Identity: "a", Shards: 8}}
	for _, step := range []struct {
		name            string
		now             map[string]string
		news, one, sums bool
	}{
		{"nothing is said", nil, false, false, false},
		{"nothing runs", map[string]string{}, true, true, false},
		{"the same", map[string]string{}, false, true, false},
		{"many run", many(150), true, true, false},
		{"the same many", many(150), false, true, false},
		{"another revision", map[string]string{"p": "2"}, true, true, false},
		{"too many run", many(400), true, false, true},
		{"the same too many", many(400), false, false, true},
		{"even more", many(10_000), true, false, true},
		{"few run again", many(150), true, true, false},
	} {
		if news := r.TellInForce(step.now); news != step.news || (r.Self.InForce != nil) != step.one || (r.Self.Sums != nil) != step.sums {
			t.Errorf("%s: news: %t, told one by one: %t, as sums: %t", step.name, news, r.Self.InForce != nil, r.Self.Sums != nil)
		}
		if n := len(r.Self.Text()); n > maxInForce+200 {
			t.Errorf("%s: the announcement has %d bytes", step.name, n)
		}
	}
}

// TestSumsAreRead: sums come through the roster as they were announced, also where there is
// little room, and a replica that announces others is news.
func TestSumsAreRead(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 8, 64, 1000, 100_000} {
		reads, tells := Roster{Self: Replica{Identity: "a", Shards: count}, Duration: time.Minute}, Roster{Self: Replica{Identity: "b", Shards: count}}
		for _, now := range []map[string]string{many(1500), many(1501)} {
			before := reads.InForce()
			tells.TellInForce(now)
			if n := len(tells.Self.Text()); n > tells.roomInForce()+200 {
				t.Errorf("%d shards: the announcement has %d bytes", count, n)
			}
			if err := reads.Read(map[string]string{tells.Self.Name(): tells.Self.Text()}, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			got := reads.InForce()["b"].Sums
			if diff := cmp.Diff(tells.Self.Sums, got); diff != "" || len(got) == 0 || before.Equal(reads.InForce()) {
				t.Errorf("%d shards: it is no news, or %s", count, diff)
			}
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
	want := InForce{"a": {Revisions: map[string]string{"p": "1"}}, "b": {Revisions: map[string]string{}}, "older": {}}
	if diff := cmp.Diff(want, read(0)); diff != "" {
		t.Error(diff)
	}
	if dead := read(15 * time.Second); len(dead) > 0 {
		t.Errorf("of dead replicas there is %v", dead)
	}
	other := maps.Clone(want)
	if other["older"] = (Told{Revisions: map[string]string{}}); want.Equal(other) || !want.Equal(maps.Clone(want)) {
		t.Error("a replica that runs nothing is the same as one that does not say what it runs")
	}
}
