package schedules

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/world"
)

// writer comes between a process and the API server.
type writer struct{ *process }

// request is a write that was asked for.
type request struct {
	policy, verb, subresource string
	target                    world.ID
	// code is what was answered; 0 is success.
	code int
}

// String implements fmt.Stringer.
func (r request) String() string {
	return fmt.Sprintf("%s: %s %s %s/%s %s %d", r.policy, r.verb, r.target.Kind(), r.target.Namespace(), r.target.Name(), r.subresource, r.code)
}

// Patch implements apply.Writer.
func (w *writer) Patch(ctx context.Context, p apply.Patch) (world.Version, error) {
	return w.send(request{policy: p.Policy, verb: "patch", subresource: p.Subresource, target: p.Target}, func() (world.Version, error) { return w.plain.Patch(ctx, p) })
}

// Make implements apply.Writer.
func (w *writer) Make(ctx context.Context, m apply.Manifest) (world.Version, error) {
	verb := "create"
	if m.Apply {
		verb = "patch"
	}
	return w.send(request{policy: m.Policy, verb: verb, target: m.Target}, func() (world.Version, error) { return w.plain.Make(ctx, m) })
}

// Delete implements apply.Writer.
func (w *writer) Delete(ctx context.Context, d apply.Deletion) error {
	_, err := w.send(request{policy: d.Policy, verb: "delete", target: d.Target}, func() (world.Version, error) { return world.Version{}, w.plain.Delete(ctx, d) })
	return err
}

// Evict implements apply.Writer.
func (w *writer) Evict(ctx context.Context, d apply.Deletion) error {
	_, err := w.send(request{policy: d.Policy, verb: "create", subresource: "eviction", target: d.Target}, func() (world.Version, error) { return world.Version{}, w.plain.Evict(ctx, d) })
	return err
}

// Event implements apply.Writer. Events change nothing that policies read.
func (w *writer) Event(context.Context, apply.Event) error { return nil }

// Live implements apply.Writer.
func (w *writer) Live(ctx context.Context, id world.ID) (world.Version, string, error) {
	if w.dead {
		return world.Version{}, "", context.Canceled
	}
	return w.plain.Live(ctx, id)
}

// send lets a write through, or breaks it as the schedule says.
func (w *writer) send(r request, write func() (world.Version, error)) (world.Version, error) {
	if w.dead {
		return world.Version{}, context.Canceled
	}
	if w.holding {
		w.inFlight = append(w.inFlight, func() { _, err := write(); w.note(r, err) })
		return world.Version{}, timeout(r)
	}
	fault := w.fault()
	switch {
	case fault == failSend && w.plant == takesLostForDone:
		return world.Version{}, nil
	case fault == failSend:
		w.note(r, timeout(r))
		return world.Version{}, timeout(r)
	case w.revoked[r.target.Kind()]:
		w.met[names[revoke]]++
		err := apierrors.NewForbidden(resourceOf(r), r.target.Name(), errRevoked)
		w.note(r, err)
		return world.Version{}, err
	case fault == contend:
		w.touch(r.target)
	}
	v, err := write()
	w.note(r, err)
	if w.killAfter--; w.killAfter == 0 {
		w.dead = true
		w.met[names[killAfter]]++
		return world.Version{}, context.Canceled
	}
	if fault == failRecv {
		return world.Version{}, timeout(r)
	}
	return v, err
}

// fault is what becomes of the next write; work is nothing.
func (b *bench) fault() action {
	out := work
	for a, left := range b.faults {
		if left--; left == 0 {
			delete(b.faults, a)
			b.met[names[a]]++
			out = max(out, a)
			continue
		}
		b.faults[a] = left
	}
	return out
}

// touch changes an object as somebody would whom no policy looks at.
func (b *bench) touch(id world.ID) {
	o := b.server.Get(id)
	if o == nil {
		return
	}
	b.touched++
	_, _ = b.server.Patch(id, object{"metadata": object{"annotations": object{touchedBy: fmt.Sprint(b.touched)}}}, apiserver.Options{Manager: others}) // what is gone needs no change
}

// put makes or replaces an object; what policies hold it by stays.
func (b *bench) put(o object) {
	next, metadata := maps.Clone(o), maps.Clone(metadataOf(o))
	for _, field := range []string{"finalizers", "ownerReferences"} {
		if was := b.server.Get(idOf(o)); was != nil && metadataOf(was)[field] != nil {
			metadata[field] = metadataOf(was)[field]
		}
	}
	next["metadata"] = metadata
	b.server.Put(next, others)
}

func timeout(r request) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout, Message: "no answer to " + r.String()}}
}
