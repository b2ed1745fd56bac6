// Package apply writes what a decision wants. It is the only package that
// changes objects of others.
package apply

import (
	"context"
	"errors"
	"net/http"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
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
	// Unchanged is true if the API server accepted the write and the object kept the
	// resourceVersion that the decision was based on.
	Unchanged bool
	// Version is what a write led to; empty when nothing was written.
	Version world.Version
}

// Written reports whether the write was made.
func (o Outcome) Written() bool { return o.Err == nil && !o.Skipped && !o.Gone && o.Refused == nil }

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
	// Lock makes every patch and deletion conditional on the state that the decision was
	// based on, even if the effect is unlocked.
	Lock bool
	// Version returns the state of an object that the decision was based on.
	Version func(world.ID) (world.Version, string)
	// Seen reports whether an event was emitted before, and notes it.
	Seen func(e Event) bool
	// Again reports whether an effect that has failed makes the caller evaluate the key again
	// at once; then the rules after it are not written. If it is nil, none does.
	Again func(*eval.Effect, error) bool
	// Around is called before each write, and what it returns after it with the
	// error; the write is made with the context that it returns. Nil is not called.
	Around func(context.Context, *eval.Effect) (context.Context, func(error))
}

// Apply writes effects in order: those of one item up to the first that fails,
// those of the rules after a failed one only where they are marked so. What is written onto an
// object that the same decision makes is skipped unless the object was made.
func (a *Applier) Apply(ctx context.Context, writes []guard.Write) []Outcome {
	run := applyRun{applier: a, ctx: ctx, versions: map[world.ID]world.Version{}, failedRule: -1, wrote: map[int]bool{}, failed: map[int]bool{}, made: map[world.ID]bool{}}
	out := make([]Outcome, len(writes))
	for i, w := range writes {
		out[i] = run.one(w.Effect())
	}
	return out
}

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
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err) || isUntyped(err)
}

// IsAnswer reports whether the server has answered with an error other than a conflict.
func IsAnswer(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !IsConflict(err)
}

// IsTransient reports whether the server has answered with an error that is not about the
// write, such as status 500. The same write may succeed at once.
func IsTransient(err error) bool {
	return IsAnswer(err) && !IsRejected(err) && !apierrors.IsNotFound(err)
}

// isUntyped reports whether the server could not read an apply by the schema of its kind: a
// value is of another type, or two entries of a list have one key. It answers that with
// status 500 and no reason.
func isUntyped(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError && strings.Contains(status.Status().Message, "failed to create typed patch object")
}

// IsLasting reports whether the server would refuse the same write in every state of the
// cluster: it cannot decode the write, or the write is too large.
func IsLasting(err error) bool {
	return isUntyped(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// IsForbidden reports whether a permission is missing.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// KeptFor reports whether an object with some annotations may be the one that is made: it
// is not marked as a child of another primary object. Two decisions that have not seen each
// other may make it.
func (m Manifest) KeptFor(annotations map[string]string) bool {
	metadata, _ := m.Body["metadata"].(map[string]any)
	own, _ := metadata["annotations"].(map[string]any)
	name, isChild := own[children.PrimaryName].(string)
	namespace, _ := own[children.PrimaryNamespace].(string)
	there, marked := annotations[children.PrimaryName]
	return !isChild || !marked || there == name && annotations[children.PrimaryNamespace] == namespace
}
