package apply

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

type applyRun struct {
	applier *Applier
	ctx     context.Context
	// versions are those that earlier writes led to.
	versions map[world.ID]world.Version
	failed   map[int]bool // items
	wrote    map[int]bool // items
	// made has the objects that this decision has created.
	made       map[world.ID]bool
	failedRule int
	// again says that everything is decided about once more at once.
	again bool
	// confirmed says that the primary was found as it was decided on, missed that a
	// patch of it was answered that there is none.
	confirmed, missed bool
	// unchanged says that the last write has changed nothing.
	unchanged bool
}

func (r *applyRun) one(e *eval.Effect) Outcome {
	if r.skips(e) {
		return Outcome{Effect: e, Skipped: true}
	}
	r.unchanged = false
	err := unserved(e, r.surrounded(e))
	if e.Verb == eval.VerbEvict && IsRefused(err) {
		return r.refused(e, err)
	}
	gone := needless(e, err)
	if gone {
		err = nil
		r.miss(e)
	}
	if err != nil {
		r.fail(e, err)
	} else if e.Verb != eval.VerbEvent {
		r.add(r.wrote, e)
	}
	out := Outcome{Effect: e, Err: err, Gone: gone, Unchanged: r.unchanged}
	if err == nil && !gone && e.Verb != eval.VerbEvent {
		out.Version = r.versions[e.Target]
	}
	return out
}

// add adds the items of an effect to a set.
func (r *applyRun) add(items map[int]bool, e *eval.Effect) {
	items[e.Item] = true
	for _, item := range e.Also {
		items[item] = true
	}
}

// skips reports whether an effect is skipped because an earlier write failed. A joined effect
// is skipped if all its items have failed.
func (r *applyRun) skips(e *eval.Effect) bool {
	if e.Made && !r.made[e.Target] {
		return true
	}
	failed := r.failed[e.Item] && !slices.ContainsFunc(e.Also, func(item int) bool { return !r.failed[item] })
	return failed || r.failedRule >= 0 && e.Rule > r.failedRule && (!e.Finally || r.again)
}

// fail notes that a write has failed.
func (r *applyRun) fail(e *eval.Effect, err error) {
	r.add(r.failed, e)
	r.again = r.again || r.applier.Again != nil && r.applier.Again(e, err)
	if r.failedRule < 0 {
		r.failedRule = e.Rule
	}
}

// needless reports whether there was nothing to do, which is success: the target is
// gone, or there already.
func needless(e *eval.Effect, err error) bool {
	makes := e.Verb == eval.VerbCreate || e.Verb == eval.VerbApply
	return err != nil && (!makes && apierrors.IsNotFound(err) || errors.Is(err, ErrExists) || errors.Is(err, errTold))
}

// refused ends the item of an eviction that is refused for now. Nothing has failed: the
// rules below are written.
func (r *applyRun) refused(e *eval.Effect, err error) Outcome {
	r.add(r.failed, e)
	why := refusal(err)
	r.tellRefused(e, why)
	return Outcome{Effect: e, Refused: errors.New(why)}
}

// miss notes that a target was gone.
func (r *applyRun) miss(e *eval.Effect) {
	if e.Verb == eval.VerbPatch && e.Target == r.applier.Primary {
		r.missed, r.confirmed = true, false
	}
}

// surrounded writes with what is called around a write.
func (r *applyRun) surrounded(e *eval.Effect) error {
	if r.applier.Around == nil {
		return r.write(e)
	}
	outer := r.ctx
	ctx, end := r.applier.Around(outer, e)
	r.ctx = ctx
	err := r.write(e)
	r.ctx = outer
	end(err)
	return err
}

func (r *applyRun) write(e *eval.Effect) error {
	if err := r.confirm(e); err != nil {
		return err
	}
	switch e.Verb {
	case eval.VerbEvent:
		return r.event(e)
	case eval.VerbCreate, eval.VerbApply:
		return r.make(e)
	case eval.VerbDelete:
		return r.delete(e)
	case eval.VerbScale:
		return r.scale(e)
	case eval.VerbEvict:
		return r.evict(e)
	case eval.VerbApprove:
		return r.approve(e)
	default:
		return r.patch(e)
	}
}

func (r *applyRun) make(e *eval.Effect) error {
	manifest, known := e.Patch, world.Version{}
	if earlier, ok := r.versions[e.Target]; e.Verb == eval.VerbApply && (ok || !e.Missing) {
		if known = earlier; !ok {
			known, _ = r.applier.Version(e.Target)
		}
		manifest = Patch{Body: manifest, ResourceVersion: known.ResourceVersion}.Locked()
	}
	body, _ := value.Plain(manifest).(map[string]any)
	version, err := r.applier.Writer.Make(r.ctx, Manifest{Target: e.Target, Body: body, Apply: e.Verb == eval.VerbApply, Refuse: e.Refuse, Policy: r.applier.Policy})
	if err == nil || errors.Is(err, ErrExists) {
		r.made[e.Target] = true
	}
	if err == nil {
		r.versions[e.Target] = version
		r.unchanged = known.ResourceVersion != "" && known.ResourceVersion == version.ResourceVersion
	}
	return err
}

func (r *applyRun) patch(e *eval.Effect) error {
	version, ok := r.versions[e.Target]
	if !ok {
		version, _ = r.applier.Version(e.Target)
	}
	body := e.Patch
	if ok {
		body = observed(body, e.Conditions, version.Generation)
	}
	known := version.ResourceVersion
	if e.Unlocked && !r.applier.Lock {
		version.ResourceVersion = ""
	}
	next, err := r.applier.Writer.Patch(r.ctx, Patch{
		Target: e.Target, Subresource: e.Subresource, Body: body,
		ResourceVersion: version.ResourceVersion, Policy: r.applier.Policy,
	})
	if err == nil {
		r.versions[e.Target] = next
		r.unchanged = known != "" && known == next.ResourceVersion && !ends(e.Patch)
	}
	return err
}

// ends reports whether a patch may remove the last finalizer of an object that is being
// deleted: such an object has no next resourceVersion.
func ends(patch *value.Map) bool {
	metadata, _ := patch.Lookup("metadata").(*value.Map)
	return metadata != nil && metadata.Lookup("finalizers") != nil
}

// observed sets the generation of the conditions that an effect keeps: an
// earlier write of the same object may have moved it on.
func observed(body *value.Map, types []string, generation int64) *value.Map {
	list, ok := value.Path(body, "status", "conditions").(*value.List)
	if !ok || generation <= 0 {
		return body
	}
	entries := slices.Clone(list.Items())
	for i, entry := range entries {
		c, ok := entry.(*value.Map)
		if ok && c.Lookup("observedGeneration") != nil && slices.Contains(types, value.StringAt(c, "type")) {
			entries[i] = c.With("observedGeneration", value.OfInt(generation))
		}
	}
	return value.Overwrite(body, value.NewList(entries), "status", "conditions")
}

// event emits an event if its item wrote something, or if it is the first of
// its kind.
func (r *applyRun) event(e *eval.Effect) error {
	_, uid := r.applier.Version(e.Target)
	event := Event{
		Target: e.Target, UID: uid, Policy: r.applier.Policy,
		Type: value.StringAt(e.Patch, "type"), Reason: value.StringAt(e.Patch, "reason"), Message: value.StringAt(e.Patch, "message"),
	}
	if r.applier.Seen(event) && !r.wrote[e.Item] {
		return errTold
	}
	return r.applier.Writer.Event(r.ctx, event)
}

// errTold says that an event was emitted before, and that nothing was written
// now that it would tell of.
var errTold = errors.New("the event was emitted before")
