package brake

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// walker evaluates one key whenever its pace allows it, as time goes by.
type walker struct {
	*Policy
	now       time.Time
	key       eval.Key
	effects   []*eval.Effect
	refused   bool
	next      time.Duration
	evaluated []time.Time
}

func newWalker() *walker {
	p := New(Settings{}, nil).Policy("p")
	p.Adopt(&plan.Policy{Name: "p", Revision: "1"})
	return &walker{Policy: p, now: noon, key: eval.Key{Namespace: "ns", Name: "a"}, effects: []*eval.Effect{patch(object{"n": int64(1)}, object{"n": int64(2)})}}
}

// step evaluates the key, unless it has to wait, and lets time go by.
func (w *walker) step(d time.Duration) {
	if w.Wait(w.key, w.now).IsZero() {
		w.evaluated = append(w.evaluated, w.now)
		r := Request{Key: w.key, Effects: w.effects, Now: w.now, World: ten{}}
		if w.next > 0 {
			r.Next = w.now.Add(w.next)
		}
		ruling := w.Admit(r)
		var done []Done
		for _, e := range ruling.Allowed {
			done = append(done, Done{Effect: e, Written: !w.refused})
		}
		w.Settle(ruling, done)
	}
	w.now = w.now.Add(d)
}

// walk steps through a time.
func (w *walker) walk(lasts, d time.Duration) {
	for end := w.now.Add(lasts); w.now.Before(end); {
		w.step(d)
	}
}

// TestPace: how often a key is evaluated that wants to be every 10 ms.
func TestPace(t *testing.T) {
	t.Parallel()
	const all = 6000
	for name, tc := range map[string]struct {
		change func(*walker)
		want   int
	}{
		"it writes":                         {func(*walker) {}, 89},
		"it writes much each time":          {func(w *walker) { w.effects = append(w.effects, w.effects[0], w.effects[0]) }, 89},
		"it writes and is due again":        {func(w *walker) { w.next = time.Millisecond }, 89},
		"it is due again within a second":   {func(w *walker) { w.effects, w.next = nil, time.Millisecond }, 89},
		"it is due again in a second":       {func(w *walker) { w.effects, w.next = nil, time.Second }, all},
		"it does nothing":                   {func(w *walker) { w.effects = nil }, all},
		"it emits Events":                   {func(w *walker) { w.effects = []*eval.Effect{{Verb: eval.VerbEvent, Target: widget}} }, all},
		"nothing is written":                {func(w *walker) { w.refused = true }, all},
		"it is held":                        {func(w *walker) { w.brakes.SetHolds([]Hold{{Name: "h", Policy: "p", Until: noon.Add(time.Hour)}}, noon) }, all},
		"its object is deleted and made":    {func(w *walker) { w.effects = []*eval.Effect{{Verb: eval.VerbDelete, Target: widget}}; w.Forget(w.key) }, 89},
		"time does not pass, and it is due": {func(w *walker) { w.brakes.settings.Virtual, w.next = true, time.Millisecond }, 89},
		"time does not pass":                {func(w *walker) { w.brakes.settings.Virtual = true }, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalker()
			tc.change(w)
			w.walk(time.Minute, 10*time.Millisecond)
			if n := len(w.evaluated); n != tc.want {
				t.Errorf("%d evaluations in a minute, want %d", n, tc.want)
			}
			if tc.want == all {
				return
			}
			for i, at := range w.evaluated { // the first 30 at once, and then one a second
				if n := i + 1; float64(n) > paceBurst+at.Sub(noon).Seconds() {
					t.Errorf("%d evaluations after %s", n, at.Sub(noon))
				}
				if i > 0 && at.Sub(w.evaluated[i-1]) > paceInterval {
					t.Errorf("nothing for %s", at.Sub(w.evaluated[i-1]))
				}
			}
		})
	}
}

// TestPaceOfEachKey: another key does not wait, and one that was quiet does not either.
func TestPaceOfEachKey(t *testing.T) {
	t.Parallel()
	w := newWalker()
	w.walk(time.Minute+paceInterval/2, 10*time.Millisecond)
	if w.Wait(w.key, w.now).IsZero() {
		t.Error("the key need not wait")
	}
	if until := w.Wait(eval.Key{Name: "b"}, w.now); !until.IsZero() {
		t.Errorf("another key waits until %s", until)
	}
	w.now, w.evaluated = w.now.Add(paceBurst*paceInterval), nil
	w.walk(paceBurst*time.Millisecond, time.Millisecond)
	if n := len(w.evaluated); n != paceBurst {
		t.Errorf("%d evaluations at once after it was quiet, want %d", n, paceBurst)
	}
	w.now = w.now.Add(time.Hour)
	w.sweep(w.now)
	if len(w.paces) > 0 || w.empty.Load() != 0 {
		t.Errorf("%d keys are known long after, %d at their pace", len(w.paces), w.empty.Load())
	}
}

// TestPaced: what is reported of a key, and when.
func TestPaced(t *testing.T) {
	t.Parallel()
	w := newWalker()
	report := func() []Paced { return w.brakes.States(w.now)["p"].Paced }
	w.walk(paceReported-time.Second, 100*time.Millisecond)
	if got := report(); len(got) > 0 {
		t.Errorf("reported too soon: %v", got)
	}
	w.walk(5*time.Second, 100*time.Millisecond)
	got := report()
	if len(got) != 1 {
		t.Fatalf("reported: %v", got)
	}
	const want = `the policy p has been at its pace about ns/a, one evaluation a second, for 10m0s: the rule "r" writes n of Widget ns/a`
	if text := got[0].String(); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	got[0].Manager = "kubectl"
	if text := got[0].String(); text != want+", and kubectl writes it, too: stop one of the two" {
		t.Error(text)
	}
	w.brakes.Policy("p").Adopt(&plan.Policy{Name: "p", Revision: "2"})
	if got := report(); len(got) != 1 {
		t.Errorf("with another text: %v", got)
	}
	w.now = w.now.Add(paceBurst * paceInterval)
	if got := report(); len(got) > 0 {
		t.Errorf("after it was quiet: %v", got)
	}
}

// TestPacedByTime: a key that is due again and again is told of without a field, and of
// several keys the one first that has been at its pace for longest.
func TestPacedByTime(t *testing.T) {
	t.Parallel()
	w := newWalker()
	w.effects, w.next = nil, time.Millisecond
	other := *w
	other.key.Name = "0"
	w.walk(time.Minute, 100*time.Millisecond)
	for other.now = w.now; w.now.Before(noon.Add(12 * time.Minute)); {
		w.step(100 * time.Millisecond)
		other.step(100 * time.Millisecond)
	}
	got := w.brakes.States(w.now)["p"].Paced
	if len(got) != 2 || got[0].Key != w.key || !strings.HasSuffix(got[0].String(), "for 10m0s: it is due again within a second each time") {
		t.Errorf("reported: %v", got)
	}
}
