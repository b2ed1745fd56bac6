package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

func deletion(rule, item int, name string) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbDelete, Rule: rule, Item: item, Target: id(name), Patch: frozen(map[string]any{})}
}

// released takes a finalizer off an object, or puts one more on it.
func released(name string, before, after []any) *eval.Effect {
	metadata := func(list []any) map[string]any { return map[string]any{"metadata": map[string]any{"finalizers": list}} }
	e := &eval.Effect{Verb: eval.VerbPatch, Target: id(name), Before: frozen(metadata(before)), Patch: frozen(metadata(after))}
	if after == nil {
		e.Patch = frozen(map[string]any{"metadata": map[string]any{}})
	}
	return e
}

// TestDeletionsAreOfWhatWasDecidedOn: the object is deleted in the state that
// was read, and the primary is asked for before it.
func TestDeletionsAreOfWhatWasDecidedOn(t *testing.T) {
	t.Parallel()
	unlocked := deletion(0, 1, "a")
	unlocked.Unlocked = true
	for name, tc := range map[string]struct {
		effects []*eval.Effect
		live    string
		want    []string
		outcome string
	}{
		"as decided on": {
			[]*eval.Effect{deletion(0, 1, "a")}, "old-primary",
			[]string{"live primary", `delete a uid-a at "old-a" by p`}, "ok",
		},
		"in any state": {
			[]*eval.Effect{unlocked}, "old-primary",
			[]string{"live primary", `delete a uid-a at "" by p`}, "ok",
		},
		"the primary has changed": {
			[]*eval.Effect{deletion(0, 1, "a")}, "newer", []string{"live primary"}, "conflict",
		},
		"it is asked for once": {
			[]*eval.Effect{deletion(0, 1, "a"), deletion(0, 2, "b")}, "old-primary",
			[]string{"live primary", `delete a uid-a at "old-a" by p`, `delete b uid-b at "old-b" by p`}, "ok ok",
		},
		"the primary itself needs no question": {
			[]*eval.Effect{deletion(0, 1, "primary")}, "newer",
			[]string{`delete primary uid-primary at "old-primary" by p`}, "ok",
		},
		"after a write of the same decision": {
			[]*eval.Effect{patch(0, 1, "a", ""), deletion(0, 1, "a")}, "old-primary",
			[]string{"patch a/ map[x:1] at old-a by p", "live primary", `delete a uid-a at "new-1" by p`}, "ok ok",
		},
		"after a write of the primary": {
			[]*eval.Effect{patch(0, 1, "primary", ""), deletion(0, 1, "a")}, "new-1",
			[]string{"patch primary/ map[x:1] at old-primary by p", "live primary", `delete a uid-a at "old-a" by p`}, "ok ok",
		},
		"a finalizer goes": {
			[]*eval.Effect{released("a", []any{"x", "y"}, []any{"y"})}, "newer", []string{"live primary"}, "conflict",
		},
		"a finalizer comes": {
			[]*eval.Effect{released("a", []any{"x"}, []any{"x", "y"})}, "newer",
			[]string{"patch a/ map[metadata:map[finalizers:[x y]]] at old-a by p"}, "ok",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeWriter{live: tc.live}
			a := Applier{
				Writer: f, Policy: "p", Primary: id("primary"),
				Version: func(id world.ID) (world.Version, string) {
					return world.Version{ResourceVersion: "old-" + id.Name()}, "uid-" + id.Name()
				},
			}
			var outcome []string
			for _, o := range a.Apply(t.Context(), judged(t, tc.effects)) {
				switch {
				case IsConflict(o.Err):
					outcome = append(outcome, "conflict")
				case o.Err != nil:
					outcome = append(outcome, o.Err.Error())
				default:
					outcome = append(outcome, "ok")
				}
			}
			if diff := cmp.Diff(tc.want, f.calls); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if got := strings.Join(outcome, " "); got != tc.outcome {
				t.Errorf("%s, want %s", got, tc.outcome)
			}
		})
	}
}

// TestWritesAfterThePrimaryWasMissed: a patch of a primary that is gone is no
// failure, but what was decided about it no longer holds. An object that was made
// after its primary could not be given a finalizer would stay for good.
func TestWritesAfterThePrimaryWasMissed(t *testing.T) {
	t.Parallel()
	hold, event := released("b", []any{}, []any{"x"}), event(1, 2, "b", "R")
	made := &eval.Effect{Verb: eval.VerbApply, Rule: 1, Item: 2, Target: id("copy"), Patch: frozen(map[string]any{}), Missing: true}
	for name, tc := range map[string]struct {
		live    error
		effects []*eval.Effect
		known   string
		// last is how the last request begins.
		last string
	}{
		"the object is gone":                 {errGone, []*eval.Effect{hold, made}, "1", "live b"},
		"so no other is changed":             {errGone, []*eval.Effect{hold, patch(1, 2, "a", "")}, "1", "live b"},
		"events change nothing":              {errGone, []*eval.Effect{hold, event}, "1", "event b"},
		"only the subresource is not served": {nil, []*eval.Effect{hold, made}, "1", "make copy"},
		"it was known to be gone":            {errGone, []*eval.Effect{hold, made}, "", "make copy"},
		"another object was missed":          {errGone, []*eval.Effect{released("c", []any{}, []any{"x"}), made}, "1", "make copy"},
	} {
		f := &fakeWriter{live: "1", failures: map[string]error{"live b": tc.live, "b": errGone, "c": errGone}}
		a := Applier{Writer: f, Policy: "p", Primary: id("b"), Seen: func(Event) bool { return false }, Version: func(id world.ID) (world.Version, string) {
			if id.Name() == "b" && tc.known != "" {
				return world.Version{ResourceVersion: tc.known}, "uid-b"
			}
			return world.Version{}, ""
		}}
		a.Apply(t.Context(), judged(t, tc.effects))
		if got := f.calls[len(f.calls)-1]; !strings.HasPrefix(got, tc.last) {
			t.Errorf("%s: the last request of %q should be %q", name, f.calls, tc.last)
		}
	}
}

// TestPrimaryThatIsGone: what was decided about nothing holds while there is
// nothing.
func TestPrimaryThatIsGone(t *testing.T) {
	t.Parallel()
	for live, want := range map[error]int{errGone: 2, nil: 1} {
		f := &fakeWriter{live: "made-meanwhile", failures: map[string]error{"live b": live}}
		a := Applier{Writer: f, Policy: "p", Primary: id("b"), Version: func(id world.ID) (world.Version, string) {
			if id.Name() == "b" {
				return world.Version{}, ""
			}
			return world.Version{ResourceVersion: "1"}, "uid"
		}}
		a.Apply(t.Context(), judged(t, []*eval.Effect{deletion(0, 1, "a")}))
		if len(f.calls) != want {
			t.Errorf("with %v: %v", live, f.calls)
		}
	}
}
