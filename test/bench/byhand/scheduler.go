package byhand

import (
	"context"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	kindPool    = "ReplicatedStoragePool"
	kindVolume  = "ReplicatedVolume"
	kindReplica = "ReplicatedVolumeReplica"

	conditionScheduled    = "Scheduled"
	reservationAnnotation = "sds-replicated-volume.deckhouse.io/scheduling-reservation-id"
	unreachable           = "Scheduling is temporarily unavailable: capacity scoring service is unreachable"
	unconfirmed           = "Scheduling is temporarily unavailable: failed to confirm capacity reservation"
	placed                = "Replica scheduled successfully"
)

// Scheduler places the replicas of volumes.
type Scheduler struct {
	Cache    *Cache
	Extender Extender
	Patcher  Patcher
	Now      func() time.Time
}

// Reconcile places the replicas of a volume that have no place yet.
func (s *Scheduler) Reconcile(ctx context.Context, name string) error {
	volume, err := get[Volume](s.Cache, kindVolume, name)
	if err != nil {
		return err
	}
	replicas, err := indexed[*Replica](s.Cache, kindReplica, indexReplicaVolume, name)
	if err != nil {
		return err
	}
	if !s.Cache.Copies { // they are changed below
		for i := range replicas {
			replicas[i] = replicas[i].DeepCopyObject().(*Replica)
		}
	}
	sortReplicas(replicas)
	if volume == nil {
		return s.wait(replicas, "ReplicatedVolume not found; waiting for it to be present")
	}
	if volume.Status.Configuration == nil {
		return s.wait(replicas, "ReplicatedVolume has no configuration yet; waiting for it to appear")
	}
	pool, err := get[StoragePool](s.Cache, kindPool, volume.Status.Configuration.StoragePoolName)
	if err != nil {
		return err
	}
	if pool == nil {
		return s.wait(replicas, "ReplicatedStoragePool not found; waiting for it to be present")
	}
	return s.schedule(ctx, newScheduling(volume, pool, replicas))
}

func (s *Scheduler) wait(replicas []*Replica, message string) error {
	for _, r := range replicas {
		if err := s.condition(r, metav1.ConditionUnknown, "WaitingForReplicatedVolume", message); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scheduler) schedule(ctx context.Context, c *scheduling) error {
	for i, r := range c.replicas {
		if c.access.has(i) {
			if err := s.noCondition(r); err != nil {
				return err
			}
		}
	}
	for i, r := range c.replicas {
		if c.scheduled.has(i) {
			if err := s.condition(r, metav1.ConditionTrue, conditionScheduled, placed); err != nil {
				return err
			}
		}
	}
	todo := c.all &^ c.scheduled &^ c.access &^ c.deleting
	if todo == 0 {
		return nil
	}
	if err := s.placeAll(ctx, c, todo&c.diskful); err != nil {
		return err
	}
	return s.placeAll(ctx, c, todo&c.tieBreaker)
}

// placeAll tries to place each of some replicas.
func (s *Scheduler) placeAll(ctx context.Context, c *scheduling, todo idSet) error {
	var failed []error
	for i, r := range c.replicas {
		if todo.has(i) {
			failed = append(failed, s.place(ctx, c, i, r))
		}
	}
	return errors.Join(failed...)
}

func (s *Scheduler) place(ctx context.Context, c *scheduling, i int, r *Replica) error {
	diskful, reservation := c.diskful.has(i), reservationOf(c.volume, r)
	p := c.candidates(r, diskful)
	if diskful && len(p.candidates) > 0 {
		if err := p.scoreByExtender(ctx, s.Extender, reservation, c.volume.Spec.Size.Value()); err != nil {
			return errors.Join(err, s.condition(r, metav1.ConditionFalse, "ExtenderUnavailable", unreachable))
		}
		c.bonuses(p)
	}
	best := p.best()
	if best == nil {
		return s.condition(r, metav1.ConditionFalse, "SchedulingFailed", p.summary())
	}
	if diskful {
		if err := s.Extender.NarrowReservation(ctx, reservation, best.ref()); err != nil {
			c.occupied[best.node.NodeName] = true
			return errors.Join(err, s.condition(r, metav1.ConditionFalse, "ExtenderUnavailable", unconfirmed))
		}
	}
	c.occupied[best.node.NodeName] = true
	if err := s.apply(r, best); err != nil {
		return err
	}
	c.place(i, best)
	return nil
}

// apply writes the place of a replica, and its condition.
func (s *Scheduler) apply(r *Replica, to *candidate) error {
	before := r.DeepCopyObject().(*Replica)
	r.Spec.NodeName, r.Spec.LVMVolumeGroupName, r.Spec.LVMVolumeGroupThinPoolName = to.node.NodeName, "", ""
	if to.group != nil {
		r.Spec.LVMVolumeGroupName, r.Spec.LVMVolumeGroupThinPoolName = to.group.Name, to.group.ThinPoolName
	}
	if r.Spec != before.Spec {
		if err := s.Patcher.Patch(kindReplica, "", before, r); err != nil {
			return err
		}
	}
	return s.condition(r, metav1.ConditionTrue, conditionScheduled, placed)
}

// condition writes the condition of a replica if its status, reason or message
// changes.
func (s *Scheduler) condition(r *Replica, status metav1.ConditionStatus, reason, message string) error {
	if c := meta.FindStatusCondition(r.Status.Conditions, conditionScheduled); c != nil && c.Status == status && c.Reason == reason && c.Message == message {
		return nil
	}
	before := r.DeepCopyObject().(*Replica)
	meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{
		Type: conditionScheduled, Status: status, Reason: reason, Message: message,
		ObservedGeneration: r.Generation, LastTransitionTime: transition(before, status, s.Now()),
	})
	return s.Patcher.Patch(kindReplica, "status", before, r)
}

// transition returns since when the condition of a replica has a status.
func transition(r *Replica, status metav1.ConditionStatus, now time.Time) metav1.Time {
	if c := meta.FindStatusCondition(r.Status.Conditions, conditionScheduled); c != nil && c.Status == status {
		return c.LastTransitionTime
	}
	return metav1.NewTime(now)
}

func (s *Scheduler) noCondition(r *Replica) error {
	if meta.FindStatusCondition(r.Status.Conditions, conditionScheduled) == nil {
		return nil
	}
	before := r.DeepCopyObject().(*Replica)
	r.Status.Conditions = slices.DeleteFunc(r.Status.Conditions, func(c metav1.Condition) bool { return c.Type == conditionScheduled })
	return s.Patcher.Patch(kindReplica, "status", before, r)
}

// reservationOf returns the ID of the reservation for a replica.
func reservationOf(v *Volume, r *Replica) string {
	if id := v.Annotations[reservationAnnotation]; id != "" {
		return id
	}
	h := fnv.New128a()
	_, _ = h.Write([]byte(r.Spec.LVMVolumeGroupName + "\x00" + r.Spec.LVMVolumeGroupThinPoolName))
	return r.Name + "-" + hex.EncodeToString(h.Sum(nil))
}
