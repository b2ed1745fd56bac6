package properties

import (
	"sigs.k8s.io/yaml"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/guard"

	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

const rolloutSteps = "steps: [{percent: 20}, {selector: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: Exists}]}}, {percent: 60}, {percent: 100}]\ninterval: 1m\n"

// ofRevision is the key of the context value that names the revision of a
// reconciliation.
type ofRevision struct{}

// judging is a writer that notes by which revisions it is asked to write.
type judging struct {
	silent
	wrote map[string]int
}

func (j *judging) note(ctx context.Context) {
	revision, _ := ctx.Value(ofRevision{}).(string)
	j.wrote[revision]++
}

func (j *judging) Patch(ctx context.Context, p apply.Patch) (world.Version, error) {
	j.note(ctx)
	return j.silent.Patch(ctx, p)
}

func (j *judging) Make(ctx context.Context, m apply.Manifest) (world.Version, error) {
	j.note(ctx)
	return j.silent.Make(ctx, m)
}

func (j *judging) Evict(ctx context.Context, d apply.Deletion) error {
	j.note(ctx)
	return j.silent.Evict(ctx, d)
}

func (j *judging) Delete(ctx context.Context, d apply.Deletion) error {
	j.note(ctx)
	return j.silent.Delete(ctx, d)
}

// staged is a policy of which another text comes into force in steps.
type staged struct {
	*bench
	*reconcile.Rollout
	writer    *judging
	old, next *plan.Policy
	share     rollout.Share
	moves     int
}

// newStaged lets a bench write to a judge, and another text run beside the first.
func newStaged(b *bench, next *plan.Policy) *staged {
	base := b.group.Controllers()[0]
	s := &staged{bench: b, old: base.Policy, next: next.ReadLabels(), writer: &judging{wrote: map[string]int{}}}
	b.group = reconcile.NewGroup(b.store, s.writer, b.bundle.Schemas)
	b.group.SetGuard(guard.Guard{Assume: true})
	b.group.Answers = hashed{}
	base = b.group.Add(s.old)
	candidate := b.group.Join(s.next)
	for _, o := range slices.Collect(maps.Values(b.objects)) {
		b.put(o, false)
	}
	b.group.Replay(b.t.Context(), base)
	b.group.Replay(b.t.Context(), candidate)
	var keys []eval.Key
	s.Rollout, keys = reconcile.NewRollout(base, candidate, nil, worlds.Start)
	s.decide(keys)
	return s
}

// want returns the revision that the share has a key decided about by.
func (s *staged) want(key eval.Key) *plan.Policy {
	var labels value.Value
	if o := s.store.Snapshot().Table(s.next.Primary.Source).Get(key.Namespace, key.Name); o != nil && s.next.Primary.Selects(o) {
		if labels = value.Path(o.Value, "metadata", "labels"); labels == nil || value.IsNull(labels) {
			labels = value.Empty
		}
	}
	if s.share.Has(s.next.Name, key.String(), labels) {
		return s.next
	}
	return s.old
}

func (s *staged) plainly(p *plan.Policy, key eval.Key) *eval.Decision {
	return eval.Plain(s.t.Context(), eval.Input{Policy: p, Key: key, World: s.store.Snapshot(), Now: worlds.Start, Answers: hashed{}})
}

// decide reconciles keys: each must be decided about as the revision decides that the
// share says, and nobody else may write.
func (s *staged) decide(keys []eval.Key) {
	s.t.Helper()
	for _, key := range keys {
		c, want := s.Take(key), s.want(key)
		if s.store.Snapshot().Table(s.next.Primary.Source).Get(key.Namespace, key.Name) == nil {
			want = c.Policy // a key whose object is gone stays where it is
		}
		clear(s.writer.wrote)
		r := c.Reconcile(context.WithValue(s.t.Context(), ofRevision{}, c.Policy.Revision), key, worlds.Start)
		if d := cmp.Diff(written(s.plainly(want, key)), written(r.Decision)); d != "" || c.Policy.Revision != want.Revision {
			s.t.Fatalf("%s, by %s, is not decided about as %s does (-want +got):\n%s", key, c.Policy.Revision, want.Revision, d)
		}
		for revision := range s.writer.wrote {
			if revision != want.Revision {
				s.t.Fatalf("%s was written by %q, not by %s", key, revision, want.Revision)
			}
		}
		if want == s.next {
			s.moves++
		}
	}
}

// advance begins a step.
func (s *staged) advance(share rollout.Share) {
	s.share = share
	s.decide(s.Advance(share))
}

// counted holds the number of disagreements against deciding twice about every key.
func (s *staged) counted(what string) {
	s.t.Helper()
	report, differ := s.Report(), 0
	for _, key := range s.all() {
		if effects(s.plainly(s.old, key)) != effects(s.plainly(s.next, key)) {
			differ++
		}
	}
	if unsure := report.Errors + report.Undetermined; report.Disagreements > differ || differ > report.Disagreements+unsure || report.Todo > 0 {
		s.t.Fatalf("%s: %d keys are decided about otherwise, and the rollout says %+v", what, differ, report)
	}
}

// all returns the keys of both revisions.
func (s *staged) all() (out []eval.Key) {
	keys := map[eval.Key]bool{}
	for _, c := range s.group.Controllers() {
		for _, key := range c.Keys() {
			keys[key] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// effects are what a decision writes, and what of it fails, without who asked for it.
func effects(d *eval.Decision) string {
	var out strings.Builder
	for _, e := range d.Effects {
		fmt.Fprintln(&out, e.Verb, e.Target, e.Subresource, value.Plain(e.Patch))
	}
	for _, p := range d.Problems {
		fmt.Fprintln(&out, "fails:", p.Rule, p.Item)
	}
	return out.String()
}

// TestOneRevisionWritesEachKey takes edits through their steps in generated worlds in
// which things happen: at any time each key is decided about by the revision that the
// step says, as that one would alone, and nothing of the other one is written.
func TestOneRevisionWritesEachKey(t *testing.T) {
	var of edictv1.Rollout
	if err := yaml.Unmarshal([]byte(rolloutSteps), &of); err != nil {
		t.Fatal(err)
	}
	spec, err := rollout.New(&of)
	if err != nil {
		t.Fatal(err)
	}
	count, events, moves, differ := budget.Of(1, 3), budget.Of(2, 4), 0, 0
	for n, edit := range edits {
		t.Run(fmt.Sprintf("%d %s", n, edit.file), func(t *testing.T) {
			before, after := edited(t, edit.file, edit.old, edit.old), edited(t, edit.file, edit.old, edit.now)
			for seed := range count {
				g := worlds.New(uint64(7000 + seed))
				b := newBench(t, before)
				for _, o := range g.World() {
					b.put(o, false)
				}
				s := newStaged(b, after.Policies[0])
				s.counted("before the first step")
				for step := range len(spec.Steps) + 1 {
					s.advance(spec.Share(step))
					for i := range events {
						what, woken := b.happen(g)
						s.decide(keysOf(slices.Sorted(maps.Keys(woken))))
						s.counted(fmt.Sprintf("world %d, step %d, event %d, %s", seed, step, i, what))
					}
				}
				moves += s.moves
				differ += s.Report().Disagreements
				if g.IntN(2) == 0 {
					s.share = nil
					s.ended(s.Drop(), s.old)
				} else {
					s.ended(s.Finish(), s.next)
				}
			}
		})
	}
	if moves == 0 || differ == 0 {
		t.Errorf("%d keys were decided about by the new revision, and %d differ: nothing was tested", moves, differ)
	}
}

// ended decides about keys once more, by the revision that has all.
func (s *staged) ended(keys []eval.Key, by *plan.Policy) {
	s.t.Helper()
	for _, key := range keys {
		if c := s.Take(key); c.Policy.Revision != by.Revision {
			s.t.Fatalf("after its end %s is decided about by %s, want %s", key, c.Policy.Revision, by.Revision)
		}
	}
}
