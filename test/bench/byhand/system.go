package byhand

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Controller is one of the controllers of this package.
type Controller interface {
	// Wakes returns the names of the objects that are to be reconciled after an
	// event. old is nil for a new object, now for a deleted one.
	Wakes(kind string, old, now client.Object) ([]string, error)
	// Reconcile decides about the object of a name, and writes what comes of it.
	Reconcile(ctx context.Context, name string) error
}

// System is a controller with its cache.
type System struct {
	Cache      *Cache
	Controller Controller
}

// Put takes in an event of a watch of a kind, and returns how many objects it wakes.
func (s *System) Put(kind string, event []byte) (woken int, err error) {
	o, err := s.Cache.take(kind, event)
	if err != nil {
		return 0, err
	}
	raw, err := s.Cache.Put(kind, o)
	if err != nil {
		return 0, err
	}
	old, _ := raw.(client.Object)
	names, err := s.Controller.Wakes(kind, old, o)
	return len(names), err
}

// Delete takes in that an object, one without a namespace, is gone.
func (s *System) Delete(kind, name string) error {
	old, err := s.Cache.Delete(kind, name)
	if err != nil || old == nil {
		return err
	}
	_, err = s.Controller.Wakes(kind, old, nil)
	return err
}

// Wakes implements Controller.
func (s *Scheduler) Wakes(kind string, old, now client.Object) ([]string, error) {
	switch kind {
	case kindVolume:
		return wakeVolume(old, now), nil
	case kindReplica:
		return wakeReplica(old, now), nil
	case kindPool:
		return s.wakePool(old, now)
	}
	return nil, nil
}

func wakeVolume(old, now client.Object) []string {
	if old != nil && now != nil &&
		old.(*Volume).Status.ConfigurationGeneration == now.(*Volume).Status.ConfigurationGeneration {
		return nil
	}
	return []string{either(old, now).GetName()}
}

func wakeReplica(old, now client.Object) []string {
	if now == nil || old != nil && old.GetGeneration() == now.GetGeneration() {
		return nil
	}
	return []string{now.(*Replica).Spec.ReplicatedVolumeName}
}

func (s *Scheduler) wakePool(old, now client.Object) ([]string, error) {
	if old != nil && now != nil &&
		old.(*StoragePool).Status.EligibleNodesRevision == now.(*StoragePool).Status.EligibleNodesRevision {
		return nil, nil
	}
	return s.Cache.names(kindVolume, indexVolumePool, either(old, now).GetName())
}

func either(old, now client.Object) client.Object {
	if now != nil {
		return now
	}
	return old
}
