package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// steps returns the steps of a rollout, which are written as in a set.
func steps(t *testing.T, text string) *rollout.Spec {
	t.Helper()
	of := edictv1.Rollout{Interval: "1m"}
	if err := yaml.Unmarshal([]byte(text), &of.Steps); err != nil {
		t.Fatal(err)
	}
	spec, err := rollout.New(&of)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// journal is a writer that keeps the values of a label by node, and rejects some.
type journal struct {
	late
	written map[string]string
	rejects string
	// forbids says that no object can be made.
	forbids bool
	// moved says that every object has moved on.
	moved bool
}

func (j *journal) Make(context.Context, apply.Manifest) (world.Version, error) {
	if j.forbids {
		return world.Version{}, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "c", nil)
	}
	return world.Version{}, nil
}

func (j *journal) Patch(_ context.Context, p apply.Patch) (world.Version, error) {
	if j.moved {
		return world.Version{}, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, p.Target.Name(), nil)
	}
	text := fmt.Sprint(value.Plain(p.Body))
	if j.rejects != "" && strings.Contains(text, j.rejects) {
		return world.Version{}, apierrors.NewBadRequest("no " + j.rejects)
	}
	j.written[p.Target.Name()] = text
	return world.Version{}, nil
}

// rolling is a policy with a new revision that comes into force in steps.
type rolling struct {
	*Rollout
	t      *testing.T
	group  *Group
	server *journal
	spec   *rollout.Spec
}

func newRolling(t *testing.T, before, after, steplist string, nodes int) *rolling {
	t.Helper()
	p, b := compiled(t, before)
	q, _ := compiled(t, after)
	r := &rolling{t: t, server: &journal{written: map[string]string{}}, spec: steps(t, steplist)}
	r.group = newGroup(world.NewStore(), r.server, b.Schemas)
	base := r.group.Add(p)
	next := r.group.Join(q.ReadLabels())
	for i := range nodes {
		put(t, r.group, fmt.Sprint("n", i), "1", map[string]any{"zone": string(rune('a' + i%4))})
	}
	for _, key := range base.Keys() {
		base.Reconcile(t.Context(), key, noon)
	}
	clear(r.server.written)
	r.group.Replay(t.Context(), next)
	var keys []eval.Key
	r.Rollout, keys = NewRollout(base, next, r.spec.Share(0), noon)
	r.reconcile(keys)
	return r
}

func (r *rolling) reconcile(keys []eval.Key) {
	for _, key := range keys {
		r.Take(key).Reconcile(r.t.Context(), key, noon.Add(time.Hour))
	}
}

// wrote returns the nodes whose last write since the last call has a text.
func (r *rolling) wrote(text string) (out []string) {
	for name, body := range r.server.written {
		if strings.Contains(body, text) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	clear(r.server.written)
	return out
}

// TestRolloutSteps: before the first step all keys are compared and nothing of the new
// revision is written; each step moves its keys; at the end the new revision has all.
func TestRolloutSteps(t *testing.T) {
	t.Parallel()
	r := newRolling(t, strings.Replace(labelling, "VALUE", "old", 1), strings.Replace(labelling, "VALUE", "new", 1), "[{percent: 20}, {selector: {matchLabels: {zone: a}}}]", 40)
	want := RolloutReport{Revision: r.next.Policy.Revision, Keys: 40, Disagreements: 40, Differing: `n0: ~ patch Node n0: metadata.labels.mark: "old" -> "new"`}
	if d := cmp.Diff(want, r.Report()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := r.wrote("new"); got != nil {
		t.Errorf("before the first step it writes %v", got)
	}
	moved := 0
	for step := 1; step <= 2; step++ {
		keys := r.Advance(r.spec.Share(step))
		if got := r.Report().Todo; got != len(keys) || got == 0 {
			t.Errorf("step %d: %d keys to do, want %d", step, got, len(keys))
		}
		r.reconcile(r.keys())
		report := r.Report()
		if got := len(r.wrote("new")); got != report.Moved || got <= moved || report.Todo != 0 || report.Keys != 40 {
			t.Errorf("step %d: %d written, %+v", step, got, report)
		}
		moved = report.Moved
	}
	if !r.next.Decides(eval.Key{Name: "n0"}) || r.base.Decides(eval.Key{Name: "n0"}) {
		t.Error("n0, of the zone a, is not decided about by the new revision alone")
	}
	put(t, r.group, "n0", "2", map[string]any{"zone": "b"}) // it leaves the selector
	if got := r.Take(eval.Key{Name: "n0"}) == r.next; got != r.spec.Share(1).Has("p", "n0", nil) {
		t.Errorf("n0 has left the selector, and is with the new revision: %v", got)
	}
	again := r.Finish()
	r.reconcile(again)
	if got := len(r.wrote("new")); got != 40 || len(again) != 40 || r.next.known.revisions.rollout.Load() != nil {
		t.Errorf("%d written, %d decided about again", got, len(again))
	}
}

// TestRolloutErrors: a key counts as an error if the new revision alone fails, or if a
// write of it is rejected that the other one would not make.
func TestRolloutErrors(t *testing.T) {
	t.Parallel()
	failing := `"${object.metadata.labels.zone == 'b' ? object.metadata.labels.missing : 'old'}"`
	old := strings.Replace(labelling, "VALUE", "old", 1)
	for name, tc := range map[string]struct {
		before, after, rejects string
		errors, disagreements  int
		example                string
	}{
		"it fails":           {old, strings.Replace(labelling, "VALUE", failing, 1), "", 5, 0, "n1: "},
		"both fail":          {strings.Replace(labelling, "VALUE", failing, 1), strings.Replace(labelling, "VALUE", failing, 1) + "  metrics: [{name: m_total, of: effect.written}]\n", "", 0, 0, ""},
		"it is rejected":     {old, strings.Replace(labelling, "VALUE", "new", 1), "new", 20, 0, "n0: no new"},
		"the same, rejected": {old, old + "  metrics: [{name: m_total, of: effect.written}]\n", "old", 0, 0, ""},
		"it differs":         {old, strings.Replace(labelling, "VALUE", "new", 1), "", 0, 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRolling(t, tc.before, tc.after, "[{percent: 100}]", 20)
			r.server.rejects = tc.rejects
			r.reconcile(r.Advance(r.spec.Share(1)))
			got := r.Report()
			if got.Errors != tc.errors || got.Disagreements != tc.disagreements || !strings.HasPrefix(got.Failing, tc.example) || got.Moved != 20 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRolloutHandsOver: what a key remembers, what is debounced for it and what it waits
// for goes with it, forth and back.
func TestRolloutHandsOver(t *testing.T) {
	t.Parallel()
	r := newRolling(t, strings.Replace(remembering, "VALUE", "a", 1), strings.Replace(remembering, "VALUE", "b", 1), "[{percent: 100}]", 4)
	state := func(c *Controller) string {
		recalled := 0
		for _, key := range r.keys() {
			if got, _ := value.Str(c.known.memories.recall(key)("seen")); got == "yes" {
				recalled++
			}
		}
		c.known.mu.Lock()
		defer c.known.mu.Unlock()
		return fmt.Sprintf("%d recall %d intents %v bytes", recalled, len(c.known.intents.byName), c.known.memories.total() > 0)
	}
	want := func(base, next string) {
		t.Helper()
		if d := cmp.Diff([]string{base, next}, []string{state(r.base), state(r.next)}); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	all, none := "4 recall 4 intents true bytes", "0 recall 0 intents false bytes"
	want(all, none)
	r.reconcile(r.Advance(r.spec.Share(1)))
	want(none, all)
	keys := r.Advance(r.spec.Share(0))
	r.Take(keys[0])
	want("1 recall 1 intents true bytes", "3 recall 3 intents true bytes")
	r.Drop()
	want(all, none)
	if got := r.Take(keys[1]); got != r.base || !r.base.Decides(keys[1]) {
		t.Error("after its end the rollout has keys")
	}
}

// TestRolloutConcurrently: while shares change and workers reconcile, what is known of
// each key is at one revision, and one revision at a time writes it.
func TestRolloutConcurrently(t *testing.T) {
	t.Parallel()
	r := newRolling(t, strings.Replace(remembering, "VALUE", "a", 1), strings.Replace(remembering, "VALUE", "b", 1), "[{percent: 30}, {percent: 70}, {percent: 100}]", 40)
	r.group.writer = &late{} // it is not asked for what it has written
	keys := r.keys()
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for n := range 300 {
				key := keys[(n*4+w)%len(keys)] // no key is reconciled twice at once
				c := r.Take(key)
				if !c.Decides(key) {
					t.Errorf("%s is taken by who does not decide about it", key)
				}
				c.Reconcile(t.Context(), key, noon.Add(time.Hour))
			}
		})
	}
	for n := range 50 {
		r.Advance(r.spec.Share(n % 4))
		r.Report()
	}
	workers.Wait()
	r.Advance(r.spec.Share(2))
	for _, key := range keys {
		r.Take(key)
	}
	for _, key := range keys {
		base, next := r.base.known.memories.values(key) != nil, r.next.known.memories.values(key) != nil
		if base == next || next != r.next.Decides(key) || len(r.base.known.intents.ofKey[key])+len(r.next.known.intents.ofKey[key]) != 1 {
			t.Errorf("%s is remembered by the one in force: %v, by the new one: %v", key, base, next)
		}
	}
	sum := 0
	for _, c := range []*Controller{r.base, r.next} {
		counted, remembered := c.known.memories.total(), 0
		for _, key := range c.known.memories.keys() {
			remembered += rememberedBytes(c.known.memories.values(key))
		}
		sum += remembered
		if counted != remembered {
			t.Errorf("%d bytes are counted, and %d remembered", counted, remembered)
		}
	}
	if sum == 0 {
		t.Error("nothing is remembered")
	}
}

// TestRolloutLimits: the limits are those of the revision in force for the writes of
// both, also if they are of an input that the new one does not have.
func TestRolloutLimits(t *testing.T) {
	t.Parallel()
	limited := "  inputs: [{name: nodes, apiVersion: v1, kind: Node, where: 'true'}]\n  limits: {changes: {perWindow: 50, perCentOf: inputs.nodes, window: 1h}}\n"
	r := newRolling(t, limited+strings.Replace(labelling, "VALUE", "old", 1), strings.Replace(labelling, "VALUE", "new", 1), "[{percent: 100}]", 20)
	brakes := brake.New(brake.Settings{}, nil)
	r.group.Brakes = brakes
	r.base.brake, r.next.brake = brakes.Policy("p"), brakes.Policy("p")
	r.base.brake.Adopt(r.base.Policy)
	r.reconcile(r.Advance(r.spec.Share(1)))
	if n, pauses := len(r.wrote("new")), brakes.Pauses("p"); n != 10 || len(pauses) != 1 || pauses[0].Revision != r.base.Policy.Revision {
		t.Errorf("%d are written, and the pauses are %+v", n, pauses)
	}
	r.Drop()
	if pauses := brakes.Pauses("p"); len(pauses) != 0 {
		t.Errorf("after the rollout there are pauses: %+v", pauses)
	}
}
