package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/run/shards"
)

// roster is the Lease in which the replicas announce themselves. Each writes an annotation
// of its own, and the answer has those of all: to announce and to look is one step.
type roster struct {
	shards.Roster
	leases coordinationv1.LeaseInterface
	name   string
	// read is when the last announcement was begun that succeeded. Others count from when
	// they see it, which is later.
	read    instant
	version string
	// lapsed is called when an announcement has come too late: others may have taken this
	// replica for dead.
	lapsed func()
}

// until returns the time up to which no other replica takes this one for dead, and what
// was read is new enough to act on it.
func (r *roster) until() time.Time {
	return r.read.get().Add(r.Duration - margin)
}

// beat announces this replica with the shards that it holds, and reads the others.
func (r *roster) beat(ctx context.Context, held []int) error {
	begin := time.Now()
	r.Self.Held = held
	// It differs from those of an earlier process of the same identity: who has seen only
	// that one would take this one for dead.
	r.Self.Beat = max(r.Self.Beat+1, begin.UnixNano())
	annotations := map[string]any{}
	for _, name := range r.Gone() {
		annotations[name] = nil
	}
	annotations[r.Self.Name()] = r.Self.Text()
	now, err := r.patch(ctx, map[string]any{"annotations": annotations})
	if err != nil {
		return fmt.Errorf("announcing this replica in the Lease %s: %w", r.name, err)
	}
	if err := r.Read(now.Annotations, begin, time.Now()); err != nil {
		return err
	}
	if over(r.until()) {
		r.lapsed()
	}
	r.version = now.ResourceVersion
	r.read.set(begin)
	return nil
}

// dead reports whether a replica has not announced itself for so long that it writes no
// more about what it holds, as the caller has read it: if it announces itself after this
// was asked, it drops all of that before it writes again.
func (r *roster) dead(ctx context.Context, identity string) bool {
	text, dead := r.Dead(identity)
	if !dead {
		return false
	}
	now, err := r.leases.Get(ctx, r.name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	one := shards.Replica{Identity: identity}
	return now.Annotations[one.Name()] == text
}

// place writes the placement of policies, unless the roster has changed since it was read.
func (r *roster) place(ctx context.Context, p shards.Placement) error {
	_, err := r.patch(ctx, map[string]any{
		"resourceVersion": r.version, "annotations": map[string]any{shards.AnnotationPlacement: p.Text()},
	})
	if apierrors.IsConflict(err) {
		return nil // the next time
	}
	return err
}

// leave takes the announcement back.
func (r *roster) leave(ctx context.Context) error {
	_, err := r.patch(ctx, map[string]any{"annotations": map[string]any{r.Self.Name(): nil}})
	return err
}

// patch writes metadata of the Lease, and makes the Lease if there is none.
func (r *roster) patch(ctx context.Context, metadata map[string]any) (*coordination.Lease, error) {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	send := func() (*coordination.Lease, error) {
		return r.leases.Patch(ctx, r.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	}
	now, err := send()
	if !apierrors.IsNotFound(err) {
		return now, err
	}
	_, err = r.leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{FieldManager: apply.FieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return send()
}

// outsider follows the Lease of shard 0, which is that of the leader of a controller
// without shards, too.
type outsider struct {
	leases coordinationv1.LeaseInterface
	name   string
	last   coordination.LeaseSpec
	since  time.Time
}

// look returns who holds the Lease, "" if nobody has renewed it for so long.
func (o *outsider) look(ctx context.Context, duration time.Duration) (string, error) {
	now, err := o.leases.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if now.Spec.HolderIdentity == nil || *now.Spec.HolderIdentity == "" {
		return "", nil
	}
	if !o.same(&now.Spec) {
		o.last, o.since = now.Spec, time.Now()
	}
	if seconds := now.Spec.LeaseDurationSeconds; seconds != nil { // that of its holder may be longer
		duration = max(duration, time.Duration(*seconds)*time.Second)
	}
	if time.Since(o.since) >= duration {
		return "", nil
	}
	return *now.Spec.HolderIdentity, nil
}

func (o *outsider) same(now *coordination.LeaseSpec) bool {
	return o.last.HolderIdentity != nil && *o.last.HolderIdentity == *now.HolderIdentity && o.last.RenewTime.Equal(now.RenewTime)
}
