package apiserver

import (
	"cmp"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/world"
)

// Deletion says how an object is deleted.
type Deletion struct {
	// Propagation is Background, Foreground or Orphan; "" is the default of the
	// kind, unless the object has a finalizer that says otherwise.
	Propagation metav1.DeletionPropagation
	// UID and ResourceVersion are preconditions; "" is none.
	UID, ResourceVersion string
}

// Delete deletes an object: at once, or when its last finalizer is gone. Its
// dependents are collected.
func (s *Server) Delete(id world.ID, d Deletion) error {
	old := s.storage.objects[id]
	if old == nil {
		return apierrors.NewNotFound(resourceOf(id), id.Name())
	}
	if err := d.meets(id, old); err != nil {
		return err
	}
	garbage{s}.remove(old, d.Propagation)
	return nil
}

// meets refuses an object that does not meet the preconditions.
func (d Deletion) meets(id world.ID, old Object) error {
	if uid := text(metadata(old), "uid"); d.UID != "" && d.UID != uid {
		return apierrors.NewConflict(resourceOf(id), id.Name(), fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", d.UID, uid))
	}
	if version := text(metadata(old), "resourceVersion"); d.ResourceVersion != "" && d.ResourceVersion != version {
		return apierrors.NewConflict(resourceOf(id), id.Name(), fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s)", d.ResourceVersion, version))
	}
	return nil
}

// remove deletes an object, and lets the collector begin with it.
func (g garbage) remove(old Object, propagation metav1.DeletionPropagation) {
	names := collecting(old, propagation)
	if len(names) == 0 {
		g.drop(old)
		return
	}
	next := copied(old)
	m := metadata(next)
	setFinalizers(next, names)
	if !deleting(old) {
		m["deletionTimestamp"] = g.server.now.timestamp()
		if generation := integer(m, "generation"); generation > 0 {
			m["generation"] = generation + 1
		}
	}
	m["deletionGracePeriodSeconds"] = int64(0)
	if !sameObject(old, next) {
		g.server.storage.set(old, next)
	}
	g.finalize(next)
}

// collecting returns the finalizers of an object that is being deleted: its own,
// and those that the garbage collector answers to.
func collecting(o Object, propagation metav1.DeletionPropagation) []string {
	names := finalizers(o)
	propagation = cmp.Or(propagation, defaultPropagation(o, names))
	names = slices.DeleteFunc(names, func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch propagation {
	case metav1.DeletePropagationOrphan:
		return append(names, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		return append(names, metav1.FinalizerDeleteDependents)
	default:
		return names
	}
}

func defaultPropagation(o Object, finalizers []string) metav1.DeletionPropagation {
	switch {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	case text(o, "kind") == "Job" && text(o, "apiVersion") == "batch/v1" || text(o, "kind") == "ReplicationController" && text(o, "apiVersion") == "v1":
		return metav1.DeletePropagationOrphan
	default:
		return metav1.DeletePropagationBackground
	}
}

// drop takes an object out, and collects what it owned.
func (g garbage) drop(old Object) {
	if !g.server.storage.remove(old) {
		return
	}
	for _, dependent := range g.dependents(text(metadata(old), "uid")) {
		g.collect(dependent)
	}
	g.released(old)
}
