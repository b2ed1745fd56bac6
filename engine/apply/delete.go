package apply

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Deletion is an object that is deleted. One of another UID, which took its
// name meanwhile, is not meant.
type Deletion struct {
	Target world.ID
	UID    string
	// ResourceVersion is the state that the deletion was decided on; "" deletes
	// the object in any.
	ResourceVersion string
	// Propagation is Background, Foreground or Orphan.
	Propagation string
	// GracePeriod is in seconds; nil is that of the kind.
	GracePeriod *int64
	Policy      string
}

// delete deletes the target of an effect, as it was decided on.
func (r *applyRun) delete(e *eval.Effect) error {
	version, uid := r.applier.Version(e.Target)
	if known, ok := r.versions[e.Target]; ok {
		version = known
	}
	d := Deletion{Target: e.Target, UID: uid, Propagation: e.Propagation, GracePeriod: e.GracePeriod, Policy: r.applier.Policy}
	if !e.Unlocked || r.applier.Lock {
		d.ResourceVersion = version.ResourceVersion
	}
	return r.applier.Writer.Delete(r.ctx, d)
}

// confirm asks the API server whether the primary still is as it was decided
// on, before something happens that cannot be taken back: the watches of
// different kinds run at different paces, and a lock on the target does not
// tell that the reason is gone. The same holds for everything that is written after
// a patch of the primary found none: what was to hold or to undo it later is not
// there. A primary that is the target itself, with a lock, needs no question.
func (r *applyRun) confirm(e *eval.Effect) error {
	if r.confirmed || r.applier.Primary.Kind() == "" || !final(e) && !r.missed || e.Verb == eval.VerbEvent || e.Target == r.applier.Primary && !e.Unlocked {
		return nil
	}
	version, uid := r.applier.Version(r.applier.Primary)
	if known, ok := r.versions[r.applier.Primary]; ok {
		version = known
	}
	live, liveUID, err := r.applier.Writer.Live(r.ctx, r.applier.Primary)
	switch {
	case apierrors.IsNotFound(err):
		live, liveUID = world.Version{}, ""
	case err != nil:
		return fmt.Errorf("reading %s %s before a write that depends on it: %w", r.applier.Primary.Kind(), r.applier.Primary.Name(), err)
	}
	if live.ResourceVersion != version.ResourceVersion || liveUID != uid {
		return apierrors.NewConflict(kschema.GroupResource{Group: r.applier.Primary.Group(), Resource: r.applier.Primary.Kind()}, r.applier.Primary.Name(), errPrimaryChanged)
	}
	r.confirmed = true
	return nil
}

var errPrimaryChanged = errors.New("the object has changed since this was decided about it")

// final reports whether an effect cannot be taken back: it deletes or evicts an object,
// approves or denies a request, or takes a finalizer off an object.
func final(e *eval.Effect) bool {
	if e.Verb == eval.VerbDelete || e.Verb == eval.VerbEvict || e.Verb == eval.VerbApprove {
		return true
	}
	m, _ := e.Patch.Lookup("metadata").(*value.Map)
	if e.Verb != eval.VerbPatch || m == nil || m.Lookup("finalizers") == nil {
		return false
	}
	stay := value.Strings(m.Lookup("finalizers"))
	return slices.ContainsFunc(value.Strings(value.Path(e.Before, "metadata", "finalizers")), func(name string) bool {
		return !slices.Contains(stay, name)
	})
}
