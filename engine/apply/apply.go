// Package apply writes what a decision wants. It is the only package that
// changes objects of others.
package apply

import (
	"context"
	"errors"
	"net/http"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// FieldManager is the field manager of the controller itself. That of a policy is
// FieldManager, a slash and the policy's name.
const FieldManager = "edict"

// Patch is a JSON merge patch of one object.
type Patch struct {
	Target      world.ID
	Subresource string
	// Body is the patch, without a resourceVersion.
	Body *value.Map
	// ResourceVersion is the state that the patch was decided on; a server
	// that has another refuses the patch.
	ResourceVersion string
	// Policy is the field manager.
	Policy string
}

// Locked returns the body with the version that the patch was decided on: the
// server refuses the patch when the object has moved on.
func (p Patch) Locked() *value.Map {
	if p.ResourceVersion == "" || value.Path(p.Body, "metadata", "resourceVersion") != nil {
		return p.Body
	}
	return value.Overwrite(p.Body, value.OfString(p.ResourceVersion), "metadata", "resourceVersion")
}

// Manifest is an object that is made.
type Manifest struct {
	Target world.ID
	// Body is the whole object as plain JSON values.
	Body map[string]any
	// Apply takes over the fields of an object that exists, by server-side
	// apply; without it such an object is an error, unless the policy made it.
	Apply bool
	// Refuse refuses an apply, as a conflict, to an object that exists and was
	// never written by the policy: the decision had not seen it.
	Refuse bool
	// Policy is the field manager.
	Policy string
}

// Event is a Kubernetes Event about an object.
type Event struct {
	Target                world.ID
	UID                   string
	Policy                string
	Type, Reason, Message string
}

// Writer writes to an API server, real or in memory. Its errors are those of
// the API machinery.
type Writer interface {
	// Patch returns the version that the write led to.
	Patch(ctx context.Context, p Patch) (world.Version, error)
	// Make returns the version of the object that was made. ErrExists says that
	// the policy has made it already.
	Make(ctx context.Context, m Manifest) (world.Version, error)
	Delete(ctx context.Context, d Deletion) error
	// Evict evicts a Pod. The error of an eviction that a PodDisruptionBudget refuses
	// is that of the API server; see IsRefused.
	Evict(ctx context.Context, d Deletion) error
	Event(ctx context.Context, e Event) error
	// Live reads an object from the API server itself, and returns its version and
	// its uid.
	Live(ctx context.Context, id world.ID) (version world.Version, uid string, err error)
}

// ErrExists says that an object that was to be made exists, made by the same
// policy: the read model had not shown it yet. There is nothing to do.
var ErrExists = errors.New("the object exists, and is the policy's own")

// Outcome is what became of one effect.
type Outcome struct {
	Effect *eval.Effect
	// Err is nil also when the target was gone: there is nothing left to do.
	Err error
	// Gone says that there was nothing to do: the target no longer exists, or
	// exists already.
	Gone bool
	// Skipped says that an earlier write of the item, or an earlier rule,
	// has failed.
	Skipped bool
	// Refused says that the API server refuses it for now, and why; Err is nil then. It
	// is to be tried again later.
	Refused error
	// Held says that it was not even tried: the brakes keep it back. Skipped is
	// true then, too.
	Held bool
	// Unchanged says that the API server has taken an apply, and found the object to be
	// so already.
	Unchanged bool
	// Version is what a write led to; empty when nothing was written.
	Version world.Version
}

// Written reports whether the write was made.
func (o Outcome) Written() bool {
	return o.Err == nil && !o.Skipped && !o.Gone && o.Refused == nil
}

// Result returns what became of the effect in one word: written, unchanged, skipped,
// held, gone, refused, conflict or failed.
func (o Outcome) Result() string {
	switch {
	case o.Held:
		return "held"
	case o.Skipped:
		return "skipped"
	case o.Gone:
		return "gone"
	case o.Refused != nil:
		return "refused"
	case IsConflict(o.Err):
		return "conflict"
	case o.Err != nil:
		return "failed"
	case o.Unchanged:
		return "unchanged"
	default:
		return "written"
	}
}

// Applier writes the effects of one policy.
type Applier struct {
	Writer Writer
	Policy string
	// Primary is the object that was decided about; without a kind, nothing is
	// asked about it before other writes.
	Primary world.ID
	// Version returns the state of an object that the decision was based on.
	Version func(world.ID) (world.Version, string)
	// Seen reports whether an event was emitted before, and notes it.
	Seen func(e Event) bool
	// Again reports whether the object is decided about once more at once when a write
	// of a rule is refused for what it says: then no rule below is written before. Nil is
	// never.
	Again func(rule int) bool
	// Around is called before each write, and what it returns after it with the
	// error; the write is made with the context that it returns. Nil is not called.
	Around func(context.Context, *eval.Effect) (context.Context, func(error))
}

// Apply writes effects in order: those of one item up to the first that fails,
// those of the rules after a failed one only where they are marked so.
func (a *Applier) Apply(ctx context.Context, effects []*eval.Effect) []Outcome {
	run := applyRun{applier: a, ctx: ctx, versions: map[world.ID]world.Version{}, failedRule: -1, wrote: map[int]bool{}, failed: map[int]bool{}}
	out := make([]Outcome, len(effects))
	for i, e := range effects {
		out[i] = run.one(e)
	}
	return out
}

type applyRun struct {
	applier *Applier
	ctx     context.Context
	// versions are those that earlier writes led to.
	versions   map[world.ID]world.Version
	failed     map[int]bool // items
	wrote      map[int]bool // items
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
		r.wrote[e.Item] = true
	}
	out := Outcome{Effect: e, Err: err, Gone: gone, Unchanged: r.unchanged}
	if err == nil && !gone && e.Verb != eval.VerbEvent {
		out.Version = r.versions[e.Target]
	}
	return out
}

// skips reports whether an effect is not written, because of what has failed before.
func (r *applyRun) skips(e *eval.Effect) bool {
	return r.failed[e.Item] || r.failedRule >= 0 && e.Rule > r.failedRule && (!e.Finally || r.again)
}

// fail notes that a write has failed.
func (r *applyRun) fail(e *eval.Effect, err error) {
	r.failed[e.Item] = true
	r.again = r.again || r.applier.Again != nil && IsRejected(err) && r.applier.Again(e.Rule)
	if r.failedRule < 0 {
		r.failedRule = e.Rule
	}
}

// needless reports whether there was nothing to do, which is success: the target is
// gone, or there already.
func needless(e *eval.Effect, err error) bool {
	return err != nil && (e.Verb != eval.VerbCreate && apierrors.IsNotFound(err) || errors.Is(err, ErrExists) || errors.Is(err, errTold))
}

// refused ends the item of an eviction that is refused for now. Nothing has failed: the
// rules below are written.
func (r *applyRun) refused(e *eval.Effect, err error) Outcome {
	r.failed[e.Item] = true
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
	if e.Unlocked {
		version.ResourceVersion = ""
	}
	next, err := r.applier.Writer.Patch(r.ctx, Patch{
		Target: e.Target, Subresource: e.Subresource, Body: body,
		ResourceVersion: version.ResourceVersion, Policy: r.applier.Policy,
	})
	if err == nil {
		r.versions[e.Target] = next
	}
	return err
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

// IsRefused reports whether an eviction was refused because of a PodDisruptionBudget: it
// may be allowed later.
func IsRefused(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}

// IsConflict reports whether a write was refused because the object has moved
// on. It is decided again on the newer state; nothing is wrong.
func IsConflict(err error) bool { return err != nil && apierrors.IsConflict(err) }

// IsRejected reports whether the server refuses a write for what it says, so that the
// same write would be refused again.
func IsRejected(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// IsForbidden reports whether a permission is missing.
func IsForbidden(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code == http.StatusForbidden || code == http.StatusUnauthorized
}
