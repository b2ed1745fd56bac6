package brakes

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// woken are the keys that were woken, as POLICY KEY.
type woken struct{ list []string }

func newController(w *woken, told *[]string) *Controller {
	return New(Options{
		Log: slog.New(slog.DiscardHandler), Changed: func(policy string) { *told = append(*told, policy) },
		Wake: func(policy string, keys []eval.Key) {
			for _, k := range keys {
				w.list = append(w.list, policy+" "+k.String())
			}
		},
		Controllers: func() []*reconcile.Controller { return nil }, Stale: func(*reconcile.Controller) bool { return false },
		Manager: func(context.Context, string, []*eval.Effect) string { return "" },
	})
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// write has a policy write an object that was not written before.
func write(c *Controller, id, name string) brake.Ruling {
	e := &eval.Effect{Verb: eval.VerbPatch, Target: world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Node"}, "", name), Rules: []string{"r"}, Patch: value.Freeze(map[string]any{"a": name}, nil, value.KeepAll).(*value.Map)}
	p := c.brakes.Policy(id)
	a := p.Admit(brake.Request{Key: eval.Key{Name: name}, Now: noon, Effects: []*eval.Effect{e}})
	p.Settle(a, nil)
	return a
}

// kinds returns the kinds of news about a set.
func kinds(c *Controller, set string) []brake.Kind {
	var out []brake.Kind
	for _, n := range c.TakeNews(set) {
		out = append(out, n.Kind)
	}
	return out
}

// TestHolds: the holds of each set are applied, those of others stay; what a hold kept back is decided
// about again when it ends, by its time or because it is gone.
func TestHolds(t *testing.T) {
	t.Parallel()
	var w woken
	var told []string
	c := newController(&w, &told)
	for _, id := range []string{"s/p", "t/p"} {
		set, name := identity.ParsePolicyID(id)
		c.brakes.Policy(id).Adopt(&plan.Policy{Set: set, Name: name, Revision: "1"})
	}
	hold := func(name, policy string, lasts time.Duration) brake.Hold {
		return brake.Hold{Name: name, Policy: policy, Reason: "r", By: "me", Until: noon.Add(lasts)}
	}
	holds := func(policy string) int {
		if s := c.State(policy); s != nil {
			return len(s.Holds)
		}
		return 0
	}
	c.SetHolds("s", []brake.Hold{hold("long", "s/p", 2*time.Hour), hold("short", "s/p", time.Hour), hold("over", "s/p", 0)})
	c.SetHolds("t", []brake.Hold{hold("long", "t/p", 3*time.Hour)})
	c.look(t.Context(), noon)
	write(c, "s/p", "a")
	write(c, "t/p", "b")
	for i, step := range []struct {
		do    func()
		at    time.Duration
		s, t  int
		news  []brake.Kind // of s
		woken []string
	}{
		{func() {}, 0, 2, 1, []brake.Kind{brake.HoldBegun, brake.HoldBegun}, nil},
		{func() {}, time.Minute, 2, 1, nil, nil},
		{func() {}, time.Hour, 1, 1, []brake.Kind{brake.HoldEnded}, []string{"s/p a"}},
		{func() { c.SetHolds("s", nil) }, time.Hour, 0, 1, []brake.Kind{brake.HoldEnded}, []string{"s/p a"}},
		{func() {}, 3 * time.Hour, 0, 0, nil, []string{"t/p b"}},
	} {
		step.do()
		c.look(t.Context(), noon.Add(step.at))
		if holds("s/p") != step.s || holds("t/p") != step.t {
			t.Errorf("%d: %d and %d holds, want %d and %d", i, holds("s/p"), holds("t/p"), step.s, step.t)
		}
		if diff := cmp.Diff(step.news, kinds(c, "s")); diff != "" {
			t.Errorf("%d: news (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(step.woken, w.list); diff != "" {
			t.Errorf("%d: woken (-want +got):\n%s", i, diff)
		}
		w.list = nil
	}
	if diff := cmp.Diff([]brake.Kind{brake.HoldBegun, brake.HoldEnded}, kinds(c, "t")); diff != "" {
		t.Errorf("news of the other set (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"s/p", "s/p", "s/p", "s/p", "t/p", "t/p"}, slices.Sorted(slices.Values(told))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestResume: a pause that another process began ends when it is resumed, unless it is newer.
func TestResume(t *testing.T) {
	t.Parallel()
	var w woken
	var told []string
	c := newController(&w, &told)
	c.brakes.Restore([]brake.Pause{{Policy: "s/p", Revision: "1", Reason: brake.RemovalLimit, Message: "too much", Since: noon}})
	c.brakes.Policy("s/p").Adopt(&plan.Policy{Set: "s", Name: "p", Revision: "1"})
	write(c, "s/p", "a")
	c.look(t.Context(), noon)
	if s := c.State("s/p"); s == nil || len(s.Pauses) != 1 || s.Pauses[0].Message != "too much" {
		t.Fatalf("it is not paused: %+v", s)
	}
	c.Resume("s/p", "somebody", noon.Add(-time.Second))
	if n := len(c.brakes.Pauses("s/p")); n != 1 {
		t.Errorf("%d pauses, although it began later", n)
	}
	w.list = nil
	c.Resume("s/p", "somebody", noon)
	c.look(t.Context(), noon)
	if got := c.State("s/p").Pauses; len(got) > 0 {
		t.Errorf("after it was resumed: %+v", got)
	}
	if diff := cmp.Diff([]string{"s/p a"}, w.list); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]brake.Kind{brake.Resumed}, kinds(c, "s")); diff != "" || len(c.TakeNews("s")) > 0 {
		t.Errorf("news (-want +got):\n%s", diff)
	}
}

// TestStart: holds are applied soon after they were set.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w woken
		var told []string
		c := newController(&w, &told)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.Start(ctx, func(f func()) { go f() })
		synctest.Wait()
		c.SetHolds("s", []brake.Hold{{Name: "h", Policy: "s/p", Until: time.Now().Add(time.Hour)}})
		synctest.Wait()
		if s := c.State("s/p"); s == nil || len(s.Holds) != 1 {
			t.Errorf("nothing is held: %+v", s)
		}
	})
}

// TestSeries: what no longer holds has no series.
func TestSeries(t *testing.T) {
	t.Parallel()
	got := seriesOf(map[string]*brake.State{
		"s/a": {Pauses: []brake.Pause{{Reason: brake.ChangeLimit}}, Kept: map[brake.Reason]int{brake.ChangeLimit: 2}, Paced: make([]brake.Paced, 1)},
		"s/b": {Holds: make([]brake.Hold, 3)},
		"s/c": {},
	})
	want := map[observe.Series]float64{
		observe.SeriesOf(observe.Paused, "s/a", string(brake.ChangeLimit)):   1,
		observe.SeriesOf(observe.KeptBack, "s/a", string(brake.ChangeLimit)): 2,
		observe.SeriesOf(observe.Paced, "s/a"):                               1,
		observe.SeriesOf(observe.Holds, "s/b"):                               3,
	}
	if !maps.Equal(got, want) {
		t.Errorf("the series are %v, want %v", got, want)
	}
}

// TestPauseNamesTheOtherWriter: the text of a pause has the other field manager of the write
// that was kept back.
func TestPauseNamesTheOtherWriter(t *testing.T) {
	t.Parallel()
	manager := "rival"
	c := New(Options{Manager: func(context.Context, string, []*eval.Effect) string { return manager }})
	for name, want := range map[string]string{"rival": "it is paused, and rival writes it, too: stop one of the two", "": "it is paused"} {
		manager = name
		n := brake.News{Policy: "p", Kind: brake.Paused, Text: "it is paused", Effect: &eval.Effect{}}
		if c.nameWriter(t.Context(), &n); n.Text != want {
			t.Errorf("%q, want %q", n.Text, want)
		}
	}
}

// TestReportPaced: a policy that has a key at its pace is told of once, and again when it
// is found who else writes. It is looked for until then.
func TestReportPaced(t *testing.T) {
	t.Parallel()
	asked := 0
	managers := []string{"", "", "kubectl"}
	c := New(Options{Manager: func(context.Context, string, []*eval.Effect) string {
		asked++
		return managers[asked-1]
	}})
	paced := func(names ...string) map[string]*brake.State {
		s := &brake.State{}
		for _, name := range names {
			s.Paced = append(s.Paced, brake.Paced{Policy: "p", Key: eval.Key{Name: name}, Effects: []*eval.Effect{{Rules: []string{"r"}}}})
		}
		return map[string]*brake.State{"p": s, "q": {}}
	}
	for i, step := range []struct {
		keys  []string
		news  int
		by    string
		asked int
	}{
		{nil, 0, "", 0},
		{[]string{"a", "b"}, 1, "", 1},
		{[]string{"a"}, 0, "", 2},
		{[]string{"a", "b"}, 1, "kubectl", 3},
		{[]string{"a"}, 0, "kubectl", 3},
		{nil, 0, "", 3},
	} {
		states := paced(step.keys...)
		news := c.reportPaced(t.Context(), states)
		if len(news) != step.news || asked != step.asked {
			t.Errorf("%d: %d news, asked %d times: %v", i, len(news), asked, news)
		}
		for _, n := range news {
			if n.Policy != "p" || n.Kind != brake.AtPace || strings.Contains(n.Text, "kubectl") != (step.by != "") {
				t.Errorf("%d: %+v", i, n)
			}
		}
		if len(step.keys) > 0 && states["p"].Paced[0].Manager != step.by {
			t.Errorf("%d: the manager is %q", i, states["p"].Paced[0].Manager)
		}
	}
}
