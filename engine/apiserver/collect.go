package apiserver

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/world"
)

// collector is the field manager of the garbage collector.
const collector = "kube-controller-manager"

// owner is one of the ownerReferences of an object.
type owner struct {
	uid string
	// blocks says that the owner waits for the object when it is deleted in the
	// foreground.
	blocks bool
}

func ownersOf(o Object) []owner {
	list, _ := metadata(o)["ownerReferences"].([]any)
	out := make([]owner, 0, len(list))
	for _, raw := range list {
		reference, _ := raw.(Object)
		blocks, _ := reference["blockOwnerDeletion"].(bool)
		out = append(out, owner{text(reference, "uid"), blocks})
	}
	return out
}

// dependents returns the objects that an owner has, sorted by name.
func (s *Server) dependents(uid string) []Object {
	var ids []world.ID
	for id, o := range s.objects {
		if uid != "" && slices.ContainsFunc(ownersOf(o), func(w owner) bool { return w.uid == uid }) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, world.CompareIDs)
	out := make([]Object, len(ids))
	for i, id := range ids {
		out[i] = s.objects[id]
	}
	return out
}

// waiting reports whether an owner is being deleted in the foreground.
func (s *Server) waiting(uid string) bool {
	o := s.objects[s.owners[uid]]
	return o != nil && deleting(o) && slices.Contains(finalizers(o), metav1.FinalizerDeleteDependents)
}

// collect does with an object, one of whose owners is gone or waits, what the
// garbage collector does: with an owner left it only loses the reference.
func (s *Server) collect(o Object) {
	o = s.objects[ID(o)]
	if o == nil || deleting(o) && len(finalizers(o)) > 0 && !slices.Contains(finalizers(o), metav1.FinalizerDeleteDependents) {
		return
	}
	solid, waits := false, false
	lost := map[string]bool{}
	for _, w := range ownersOf(o) {
		_, exists := s.owners[w.uid]
		switch {
		case !exists:
			lost[w.uid] = true
		case s.waiting(w.uid):
			waits, lost[w.uid] = true, true
		default:
			solid = true
		}
	}
	switch {
	case len(lost) == 0:
	case solid:
		s.disown(o, lost)
	case waits && len(s.dependents(text(metadata(o), "uid"))) > 0:
		s.remove(o, metav1.DeletePropagationForeground)
	default:
		s.remove(o, s.ownPropagation(o))
	}
}

// ownPropagation is what the finalizers of a collected object ask for.
func (s *Server) ownPropagation(o Object) metav1.DeletionPropagation {
	for _, f := range finalizers(o) {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	return metav1.DeletePropagationBackground
}

// disown takes references to owners off an object.
func (s *Server) disown(o Object, uids map[string]bool) {
	next := copied(o)
	list, _ := metadata(next)["ownerReferences"].([]any)
	list = slices.DeleteFunc(list, func(raw any) bool {
		reference, _ := raw.(Object)
		return uids[text(reference, "uid")]
	})
	metadata(next)["ownerReferences"] = list
	if len(list) == 0 {
		delete(metadata(next), "ownerReferences")
	}
	kind := s.kindOf(o)
	s.store(kind, o, s.tracked(kind, fieldsKey{GVK: ID(o).GVK}, o, next, collector))
}

// finalize does what the collector's finalizers on an object ask for, and takes
// them off when it is done.
func (s *Server) finalize(o Object) {
	uid, names := text(metadata(o), "uid"), finalizers(o)
	switch {
	case slices.Contains(names, metav1.FinalizerOrphanDependents):
		for _, dependent := range s.dependents(uid) {
			s.disown(dependent, map[string]bool{uid: true})
		}
		s.finalized(o, metav1.FinalizerOrphanDependents)
	case slices.Contains(names, metav1.FinalizerDeleteDependents):
		for _, dependent := range s.dependents(uid) {
			if !s.waiting(text(metadata(dependent), "uid")) {
				s.collect(dependent)
			}
		}
		if s.waiting(uid) && !s.blocked(uid) {
			s.finalized(o, metav1.FinalizerDeleteDependents)
		}
	}
}

// blocked reports whether something is left that an owner waits for.
func (s *Server) blocked(uid string) bool {
	return slices.ContainsFunc(s.dependents(uid), func(o Object) bool {
		return slices.ContainsFunc(ownersOf(o), func(w owner) bool { return w.uid == uid && w.blocks })
	})
}

// finalized takes a finalizer off an object that is going.
func (s *Server) finalized(o Object, finalizer string) {
	o = s.objects[ID(o)]
	if o == nil {
		return
	}
	next := copied(o)
	setFinalizers(next, slices.DeleteFunc(finalizers(next), func(f string) bool { return f == finalizer }))
	kind := s.kindOf(o)
	s.store(kind, o, s.tracked(kind, fieldsKey{GVK: ID(o).GVK}, o, next, collector))
}

// released looks at the owners of an object that is gone: one that waits may
// go now.
func (s *Server) released(gone Object) {
	for _, w := range ownersOf(gone) {
		if s.waiting(w.uid) && !s.blocked(w.uid) {
			s.finalized(s.objects[s.owners[w.uid]], metav1.FinalizerDeleteDependents)
		}
	}
}
