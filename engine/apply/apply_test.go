package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// fakeWriter is no API server: it notes what it is asked, and fails as told.
type fakeWriter struct {
	calls []string
	// failures are the errors of writes to objects, by name.
	failures map[string]error
	serial   int
	// live is the version of every object, still those that applies do not change.
	live  string
	still map[string]string
	// exists are the objects that the policy has made already.
	exists map[string]bool
}

func (f *fakeWriter) Patch(_ context.Context, p Patch) (world.Version, error) {
	f.calls = append(f.calls, fmt.Sprintf("patch %s/%s %v at %s by %s", p.Target.Name(), p.Subresource, value.Plain(p.Body), p.ResourceVersion, p.Policy))
	if err := f.failures[p.Target.Name()]; err != nil {
		return world.Version{}, err
	}
	f.serial++
	return world.Version{ResourceVersion: fmt.Sprint("new-", f.serial)}, nil
}

func (f *fakeWriter) Make(_ context.Context, m Manifest) (world.Version, error) {
	f.calls = append(f.calls, fmt.Sprintf("make %s %v (apply %v) by %s", m.Target.Name(), m.Body, m.Apply, m.Policy))
	if err := f.failures[m.Target.Name()]; err != nil {
		return world.Version{}, err
	}
	if f.exists[m.Target.Name()] {
		return world.Version{}, ErrExists
	}
	if version := f.still[m.Target.Name()]; version != "" {
		return world.Version{ResourceVersion: version}, nil
	}
	f.serial++
	return world.Version{ResourceVersion: fmt.Sprint("new-", f.serial)}, nil
}

func (f *fakeWriter) Evict(_ context.Context, d Deletion) error {
	f.calls = append(f.calls, fmt.Sprintf("evict %s %s at %q by %s", d.Target.Name(), d.UID, d.ResourceVersion, d.Policy))
	return f.failures[d.Target.Name()]
}

func (f *fakeWriter) Delete(_ context.Context, d Deletion) error {
	f.calls = append(f.calls, fmt.Sprintf("delete %s %s at %q by %s", d.Target.Name(), d.UID, d.ResourceVersion, d.Policy))
	return f.failures[d.Target.Name()]
}

func (f *fakeWriter) Live(_ context.Context, id world.ID) (world.Version, string, error) {
	f.calls = append(f.calls, "live "+id.Name())
	return world.Version{ResourceVersion: f.live}, "uid-" + id.Name(), f.failures["live "+id.Name()]
}

func (f *fakeWriter) Event(_ context.Context, e Event) error {
	f.calls = append(f.calls, fmt.Sprintf("event %s %s: %s %s %s", e.Target.Name(), e.UID, e.Type, e.Reason, e.Message))
	return f.failures["event "+e.Target.Name()]
}

func id(name string) world.ID {
	return world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Pod"}, "ns", name)
}

func frozen(raw map[string]any) *value.Map { return value.Freeze(raw, nil, value.KeepAll).(*value.Map) }

// patch is a patch of an object by an item of a rule.
func patch(rule, item int, name, subresource string) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbPatch, Rule: rule, Item: item, Target: id(name), Subresource: subresource, Patch: frozen(map[string]any{"x": int64(item)})}
}

func finally(e *eval.Effect) *eval.Effect {
	e.Finally = true
	return e
}

func event(rule, item int, name, reason string) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbEvent, Rule: rule, Item: item, Target: id(name), Patch: frozen(map[string]any{"type": "Normal", "reason": reason, "message": "m"})}
}

// judged returns effects that a guard allows, as it allows everything.
func judged(t *testing.T, effects []*eval.Effect) (out []guard.Write) {
	t.Helper()
	g := guard.Guard{Allowed: []guard.Allowance{{Policy: "p", AnyGroup: true, Kind: "Pod", Field: guard.Everything}}}
	grants := g.Of(&plan.Policy{Name: "p"})
	for _, e := range effects {
		w, err := grants.Judge(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// applied writes effects and returns what was asked of the writer, and what
// became of each effect.
func applied(t *testing.T, f *fakeWriter, seen map[Event]bool, effects ...*eval.Effect) (outcomes string) {
	t.Helper()
	a := Applier{
		Writer: f, Policy: "p",
		Version: func(id world.ID) (world.Version, string) {
			return world.Version{ResourceVersion: "old-" + id.Name()}, "uid-" + id.Name()
		},
		Seen: func(e Event) bool {
			was := seen[e]
			seen[e] = true
			return was
		},
	}
	var words []string
	for i, o := range a.Apply(t.Context(), judged(t, effects)) {
		if o.Effect != effects[i] {
			t.Errorf("outcome %d is of another effect", i)
		}
		switch {
		case o.Skipped:
			words = append(words, "skipped")
		case o.Gone:
			words = append(words, "gone")
		case o.Err != nil:
			words = append(words, "failed")
		case o.Unchanged:
			words = append(words, "unchanged")
		default:
			words = append(words, "ok")
		}
	}
	return strings.Join(words, " ")
}

var (
	pods     = kschema.GroupResource{Resource: "pods"}
	errGone  = apierrors.NewNotFound(pods, "b")
	errStale = apierrors.NewConflict(pods, "b", errors.New("it has moved on"))
	errOther = errors.New("why")
)

// TestOrderOfWrites: effects are written in their order; an item stops at its
// first failure, other items of its rule go on, later rules are not begun.
func TestOrderOfWrites(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		effects  []*eval.Effect
		failures map[string]error
		want     string
	}{
		"nothing":                   {nil, nil, ""},
		"all is well":               {[]*eval.Effect{patch(0, 1, "a", ""), patch(0, 2, "b", ""), patch(1, 3, "c", "")}, nil, "ok ok ok"},
		"an item stops":             {[]*eval.Effect{patch(0, 1, "a", ""), patch(0, 1, "b", ""), patch(0, 1, "c", "")}, map[string]error{"b": errOther}, "ok failed skipped"},
		"other items go on":         {[]*eval.Effect{patch(0, 1, "b", ""), patch(0, 1, "a", ""), patch(0, 2, "a", ""), patch(0, 3, "c", "")}, map[string]error{"b": errOther}, "failed skipped ok ok"},
		"later rules do not":        {[]*eval.Effect{patch(0, 1, "b", ""), patch(0, 2, "a", ""), patch(1, 3, "a", ""), patch(2, 4, "c", "")}, map[string]error{"b": errOther}, "failed ok skipped skipped"},
		"a second failure":          {[]*eval.Effect{patch(0, 1, "b", ""), patch(0, 2, "b", ""), patch(0, 3, "a", "")}, map[string]error{"b": errOther}, "failed failed ok"},
		"those that run finally do": {[]*eval.Effect{patch(0, 1, "b", ""), patch(1, 2, "a", ""), finally(patch(2, 3, "c", ""))}, map[string]error{"b": errOther}, "failed skipped ok"},
		"a conflict stops":          {[]*eval.Effect{patch(0, 1, "b", ""), patch(0, 1, "a", ""), patch(1, 2, "a", "")}, map[string]error{"b": errStale}, "failed skipped skipped"},
		"what is gone is well":      {[]*eval.Effect{patch(0, 1, "b", ""), patch(0, 1, "a", ""), patch(1, 2, "c", "")}, map[string]error{"b": errGone}, "gone ok ok"},
		"an event that fails":       {[]*eval.Effect{event(0, 1, "a", "A"), patch(0, 1, "b", ""), patch(1, 2, "c", "")}, map[string]error{"event a": errOther}, "failed skipped skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeWriter{failures: tc.failures}
			if got := applied(t, f, map[Event]bool{}, tc.effects...); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if asked := len(tc.effects) - strings.Count(tc.want, "skipped"); len(f.calls) != asked {
				t.Errorf("%d writes were tried, not %d: %v", len(f.calls), asked, f.calls)
			}
		})
	}
}

// TestVersionsAreHandedOn: a second write to an object is based on what the
// first led to, not on what the decision saw.
func TestVersionsAreHandedOn(t *testing.T) {
	t.Parallel()
	f := &fakeWriter{}
	applied(t, f, nil, patch(0, 1, "a", ""), patch(0, 1, "b", "status"), patch(0, 1, "a", "status"), patch(1, 2, "a", ""))
	want := []string{
		"patch a/ map[x:1] at old-a by p", "patch b/status map[x:1] at old-b by p", "patch a/status map[x:1] at new-1 by p", "patch a/ map[x:2] at new-3 by p",
	}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUnchanged: an apply that leads to the version that was there has changed nothing.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	apply := func(item int, name string) *eval.Effect {
		e := patch(0, item, name, "")
		e.Verb = eval.VerbApply
		return e
	}
	f := &fakeWriter{still: map[string]string{"a": "old-a"}}
	if got := applied(t, f, nil, apply(1, "a"), apply(2, "b"), patch(0, 3, "a", "")); got != "unchanged ok ok" {
		t.Errorf("they are %s", got)
	}
	if o := (Outcome{Unchanged: true}); o.Result() != "unchanged" || !o.Written() {
		t.Errorf("it is %s", o.Result())
	}
}

// TestVersionAfterAFailure: a write that failed led nowhere.
func TestVersionAfterAFailure(t *testing.T) {
	t.Parallel()
	f := &fakeWriter{failures: map[string]error{"b": errOther}}
	applied(t, f, nil, patch(0, 1, "b", ""), patch(0, 2, "b", ""))
	want := []string{"patch b/ map[x:1] at old-b by p", "patch b/ map[x:2] at old-b by p"}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEventsOnce: an event comes with the change that it tells of; without one
// it comes once.
func TestEventsOnce(t *testing.T) {
	t.Parallel()
	seen := map[Event]bool{}
	emitted := func(effects ...*eval.Effect) int {
		f := &fakeWriter{failures: map[string]error{"b": errOther, "g": errGone}}
		applied(t, f, seen, effects...)
		n := 0
		for _, c := range f.calls {
			n += strings.Count(c, "event ")
		}
		return n
	}
	for i, step := range []struct {
		what    string
		effects []*eval.Effect
		want    int
	}{
		{"the first", []*eval.Effect{event(0, 1, "a", "A")}, 1},
		{"again", []*eval.Effect{event(0, 1, "a", "A")}, 0},
		{"another reason", []*eval.Effect{event(0, 1, "a", "B")}, 1},
		{"another object", []*eval.Effect{event(0, 1, "c", "A")}, 1},
		{"again, with a write", []*eval.Effect{patch(0, 1, "a", ""), event(0, 1, "a", "A")}, 1},
		{"again, with a write of another item", []*eval.Effect{patch(0, 1, "a", ""), event(0, 2, "a", "A")}, 0},
		{"again, before the write", []*eval.Effect{event(0, 1, "a", "A"), patch(0, 1, "a", "")}, 0},
		{"after a write that failed", []*eval.Effect{patch(0, 1, "b", ""), event(0, 1, "a", "D")}, 0},
		{"that one was not told yet", []*eval.Effect{event(0, 1, "a", "D")}, 1},
	} {
		if got := emitted(step.effects...); got != step.want {
			t.Errorf("step %d, %s: %d events", i, step.what, got)
		}
	}
}

func TestEventIsFilledIn(t *testing.T) {
	t.Parallel()
	f := &fakeWriter{}
	applied(t, f, map[Event]bool{}, event(0, 1, "a", "A"))
	if diff := cmp.Diff([]string{"event a uid-a: Normal A m"}, f.calls); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	forbidden, unauthorized := apierrors.NewForbidden(pods, "a", errOther), apierrors.NewUnauthorized("no")
	for name, tc := range map[string]struct {
		err                 error
		conflict, forbidden bool
	}{
		"a conflict":     {errStale, true, false},
		"wrapped":        {fmt.Errorf("writing: %w", errStale), true, false},
		"forbidden":      {forbidden, false, true},
		"unauthorized":   {unauthorized, false, true},
		"wrapped, too":   {fmt.Errorf("writing: %w", forbidden), false, true},
		"something else": {errOther, false, false},
		"gone":           {errGone, false, false},
		"nothing":        {nil, false, false},
	} {
		if IsConflict(tc.err) != tc.conflict || IsForbidden(tc.err) != tc.forbidden {
			t.Errorf("%s: conflict %v, forbidden %v", name, IsConflict(tc.err), IsForbidden(tc.err))
		}
	}
}

// generations is a fake writer whose spec writes raise the generation.
type generations struct {
	fakeWriter
	bodies []any
}

func (g *generations) Patch(ctx context.Context, p Patch) (world.Version, error) {
	g.bodies = append(g.bodies, value.Plain(p.Body))
	v, err := g.fakeWriter.Patch(ctx, p)
	v.Generation = 8
	return v, err
}

// TestConditionsObserveTheGenerationThatWasWritten: a condition that follows a
// write of the spec speaks of the generation after it; conditions of others
// stay as they are.
func TestConditionsObserveTheGenerationThatWasWritten(t *testing.T) {
	t.Parallel()
	condition := func(kind string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "observedGeneration": int64(7)}
	}
	status := &eval.Effect{
		Verb: eval.VerbPatch, Target: id("a"), Subresource: "status", Conditions: []string{"Ours"},
		Patch: frozen(map[string]any{"status": map[string]any{"conditions": []any{condition("Ours"), condition("Theirs")}}}),
	}
	g := &generations{}
	a := Applier{Writer: g, Version: func(world.ID) (world.Version, string) {
		return world.Version{ResourceVersion: "1", Generation: 7}, ""
	}}
	a.Apply(t.Context(), judged(t, []*eval.Effect{patch(0, 0, "a", ""), status}))
	ours, theirs := condition("Ours"), condition("Theirs")
	ours["observedGeneration"] = int64(8)
	want := any(map[string]any{"status": map[string]any{"conditions": []any{ours, theirs}}})
	if d := cmp.Diff(want, g.bodies[1]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if n := value.Path(status.Patch, "status", "conditions").(*value.List).At(0).(*value.Map).Lookup("observedGeneration"); n != value.OfInt(7) {
		t.Errorf("the effect itself was changed: %v", n)
	}
}

// TestLock: while several installations may decide about an object, each patch and each
// deletion depends on the version that was read, also one that depends on nothing else.
func TestLock(t *testing.T) {
	t.Parallel()
	for lock, at := range map[bool]string{false: "", true: "1"} {
		f := &fakeWriter{live: "1"}
		a := &Applier{Writer: f, Policy: "p", Lock: lock, Version: func(of world.ID) (world.Version, string) {
			return world.Version{ResourceVersion: "1"}, "uid-" + of.Name()
		}}
		patched, deleted := patch(0, 0, "a", ""), &eval.Effect{Verb: eval.VerbDelete, Target: id("b"), Patch: value.Empty}
		patched.Unlocked, deleted.Unlocked = true, true
		a.Apply(t.Context(), judged(t, []*eval.Effect{patched, deleted}))
		want := []string{"patch a/ map[x:0] at " + at + " by p", fmt.Sprintf("delete b uid-b at %q by p", at)}
		if diff := cmp.Diff(want, f.calls); diff != "" {
			t.Errorf("with a lock %v: -want +got:\n%s", lock, diff)
		}
	}
}

// TestNotMade: what is written onto an object that the decision makes is skipped unless the
// object was made, whether or not the rule is to be written after a failure.
func TestNotMade(t *testing.T) {
	t.Parallel()
	create := func(rule int, name string) *eval.Effect {
		return &eval.Effect{Verb: eval.VerbCreate, Rule: rule, Item: rule, Target: id(name), Patch: frozen(map[string]any{"x": 1})}
	}
	onto := func(e *eval.Effect) *eval.Effect {
		e.Made = true
		return finally(e)
	}
	for name, tc := range map[string]struct {
		writer fakeWriter
		want   string
	}{
		"made":        {fakeWriter{}, "ok ok ok ok"},
		"refused":     {fakeWriter{failures: map[string]error{"b": errOther}}, "failed skipped ok skipped"},
		"made before": {fakeWriter{exists: map[string]bool{"b": true}}, "gone ok ok ok"},
	} {
		got := applied(t, &tc.writer, map[Event]bool{}, create(0, "b"), onto(patch(1, 1, "b", "")), finally(patch(2, 2, "a", "")), onto(patch(3, 3, "b", "status")))
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
