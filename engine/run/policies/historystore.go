package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// finish sets the result of the newest entry of a policy. If a rollback wrote it, the
// entry that was in force before is marked.
func (s *historyStore) finish(ctx context.Context, e *history.Entry, result history.Result) error {
	if err := s.store(ctx, e, result, result != history.Active && s.wasPartly(e)); err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(s.entries[e.Policy]), func(other *history.Entry) bool { return other == e })
	before := history.Good(others)
	if result == history.Active && e.Author == history.RollbackManager && before != nil && before.Revision != e.Revision {
		if err := s.set(ctx, before, history.RolledBack); err != nil {
			return err
		}
	}
	for _, old := range s.surplus(e.Policy) {
		s.remove(ctx, old)
	}
	return nil
}

// set writes the result of an entry.
func (s *historyStore) set(ctx context.Context, e *history.Entry, result history.Result) error {
	return s.store(ctx, e, result, e.Partly)
}

// store writes the result of an entry, and whether it was in force for the objects of
// some steps only.
func (s *historyStore) store(ctx context.Context, e *history.Entry, result history.Result, partly bool) error {
	if e.Result == result && e.Partly == partly {
		return nil
	}
	annotations := map[string]any{v1alpha1.AnnotationPartly: nil}
	if partly {
		annotations[v1alpha1.AnnotationPartly] = "true"
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{v1alpha1.LabelResult: result}, "annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = s.client.AppsV1().ControllerRevisions(s.namespace).Patch(ctx, e.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	if apierrors.IsNotFound(err) { // it went with its ConfigMap, or was deleted
		s.forget(e)
		return nil
	}
	if err == nil {
		e.Result, e.Partly = result, partly
	}
	return err
}

// surplus returns the entries of a policy that are too many: the oldest, but never the
// last good one.
func (s *historyStore) surplus(id string) (out []*history.Entry) {
	list := s.entries[id]
	for _, e := range list {
		if len(list)-len(out) > maxRevisions && e != history.Good(list) {
			out = append(out, e)
		}
	}
	return out
}

// room makes room for an entry beside those of the same ConfigMap: of policies
// with something newer the oldest entries go first. An error reports that there is
// too much even so.
func (s *historyStore) room(ctx context.Context, e *history.Entry) error {
	size := e.Size()
	var spare []*history.Entry
	for id, list := range s.entries {
		for _, other := range list {
			if other.Owner != e.Owner || id == e.Policy && other == history.Good(list) && e.Result == history.Active {
				continue // another ConfigMap's, or replaced by this one
			}
			size += other.Size()
			if other != history.Good(list) {
				spare = append(spare, other)
			}
		}
	}
	slices.SortFunc(spare, func(a, b *history.Entry) int { return a.Edited.Compare(b.Edited) })
	for _, old := range spare {
		if size <= maxKept {
			break
		}
		size -= old.Size()
		s.remove(ctx, old)
	}
	if size > maxKept {
		return fmt.Errorf("more than %d MiB would be kept of the ConfigMap: put its policies into files of their own", maxKept>>20)
	}
	return nil
}

// sweep forgets the oldest of the policies of a ConfigMap that are gone, when
// they are too many.
func (s *historyStore) sweep(ctx context.Context, c *source.Catalog) {
	gone := map[types.UID][]*history.Entry{}
	for id, list := range s.entries {
		if last := history.InForce(list); last != nil && last.Result == history.Stopped && c.Units[id] == nil {
			gone[last.Owner] = append(gone[last.Owner], last)
		}
	}
	for _, list := range gone {
		slices.SortFunc(list, func(a, b *history.Entry) int { return b.Edited.Compare(a.Edited) })
		for _, e := range list[min(maxStopped, len(list)):] {
			for _, old := range slices.Clone(s.entries[e.Policy]) {
				s.remove(ctx, old)
			}
		}
	}
}

// update finds the policies that no longer run, without having been disabled or put in
// Shadow mode.
func (s *historyStore) update(c *source.Catalog) {
	s.stopped = nil
	for id, list := range s.entries {
		e := history.InForce(list)
		if e == nil || e.Result != history.Stopped || c.Units[id] != nil || c.Units[plan.ID{Name: id, Shadow: true}.String()] != nil {
			continue
		}
		if u := e.Unit(); u == nil || !c.Stopped(u, e.File, false) {
			s.stopped = append(s.stopped, id)
		}
	}
}

// confirmStopped forgets those of which the cluster has no history any more, as after their
// ConfigMap was deleted, and reports whether there are any.
func (s *historyStore) confirmStopped(ctx context.Context) (any bool) {
	for _, id := range s.stopped {
		s.confirm(ctx, id)
		any = any || history.InForce(s.entries[id]) == nil
	}
	return any
}

func (s *historyStore) forget(e *history.Entry) {
	left := slices.DeleteFunc(slices.Clone(s.entries[e.Policy]), func(other *history.Entry) bool { return other == e })
	if s.entries[e.Policy] = left; len(left) == 0 {
		delete(s.entries, e.Policy)
	}
}

func (s *historyStore) remove(ctx context.Context, e *history.Entry) {
	s.forget(e)
	err := s.client.AppsV1().ControllerRevisions(s.namespace).Delete(ctx, e.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		s.log.Warn("an old revision cannot be removed", "name", e.Name, "error", err.Error())
	}
}
