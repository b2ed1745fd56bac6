package apiserver

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// collector is the field manager of the garbage collector.
const collector = "kube-controller-manager"

// owner is one of the ownerReferences of an object.
type owner struct {
	gvk       schema.GVK
	name, uid string
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
		out = append(out, owner{schema.GVK{APIVersion: text(reference, "apiVersion"), Kind: text(reference, "kind")}, text(reference, "name"), text(reference, "uid"), blocks})
	}
	return out
}

// garbage deletes objects as the garbage collector does: with what they own.
type garbage struct{ server *Server }

// dependents returns the objects that an owner has, sorted by name.
func (g garbage) dependents(uid string) []Object {
	var ids []world.ID
	for id, o := range g.server.storage.objects {
		if uid != "" && slices.ContainsFunc(ownersOf(o), func(w owner) bool { return w.uid == uid }) {
			ids = append(ids, id)
		}
	}
	return g.server.storage.sorted(ids)
}

// waiting reports whether an owner is being deleted in the foreground.
func (g garbage) waiting(uid string) bool {
	o := g.server.storage.objects[g.server.storage.owners[uid]]
	return o != nil && deleting(o) && slices.Contains(finalizers(o), metav1.FinalizerDeleteDependents)
}

// collect does with an object, one of whose owners is gone or waits, what the
// garbage collector does: with an owner left it only loses the reference.
func (g garbage) collect(o Object) {
	o = g.server.storage.objects[ID(o)]
	if o == nil || deleting(o) && len(finalizers(o)) > 0 && !slices.Contains(finalizers(o), metav1.FinalizerDeleteDependents) {
		return
	}
	solid, waits := false, false
	lost := map[string]bool{}
	for _, w := range ownersOf(o) {
		switch {
		case g.absent(w, o):
			lost[w.uid] = true
		case g.waiting(w.uid):
			waits, lost[w.uid] = true, true
		default:
			solid = true
		}
	}
	switch {
	case len(lost) == 0:
	case solid:
		g.disown(o, lost)
	case waits && len(g.dependents(text(metadata(o), "uid"))) > 0:
		g.remove(o, metav1.DeletePropagationForeground)
	default:
		g.remove(o, ownPropagation(o))
	}
}

// absent reports whether the garbage collector finds no owner: it looks up the kind and name in
// the namespace of the object and compares the uid. It ignores kinds that are not served. A
// reference in a test may have only the uid.
func (g garbage) absent(w owner, o Object) bool {
	at, exists := g.server.storage.owners[w.uid]
	if w.gvk.Kind != "" && g.server.schemas.Unserved(w.gvk) {
		return false
	}
	if !exists || w.gvk.Kind != "" && (at.Kind() != w.gvk.Kind || at.Group() != w.gvk.Group() || at.Name() != w.name) {
		return true
	}
	return at.Namespace() != "" && at.Namespace() != ID(o).Namespace()
}

// stray collects an object whose owner exists under another kind, name or namespace.
func (g garbage) stray(o Object) {
	if slices.ContainsFunc(ownersOf(o), func(w owner) bool {
		_, exists := g.server.storage.owners[w.uid]
		return exists && g.absent(w, o)
	}) {
		g.collect(o)
	}
}

// ownPropagation is what the finalizers of a collected object ask for.
func ownPropagation(o Object) metav1.DeletionPropagation {
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
func (g garbage) disown(o Object, uids map[string]bool) {
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
	kind := g.server.kindOf(o)
	g.server.store(kind, o, g.server.managers.tracked(kind, fieldsKey{GVK: ID(o).GVK()}, o, next, collector))
}

// finalize does what the collector's finalizers on an object ask for, and takes
// them off when it is done.
func (g garbage) finalize(o Object) {
	uid, names := text(metadata(o), "uid"), finalizers(o)
	switch {
	case slices.Contains(names, metav1.FinalizerOrphanDependents):
		for _, dependent := range g.dependents(uid) {
			g.disown(dependent, map[string]bool{uid: true})
		}
		g.finalized(o, metav1.FinalizerOrphanDependents)
	case slices.Contains(names, metav1.FinalizerDeleteDependents):
		for _, dependent := range g.dependents(uid) {
			if !g.waiting(text(metadata(dependent), "uid")) {
				g.collect(dependent)
			}
		}
		if g.waiting(uid) && !g.blocked(uid) {
			g.finalized(o, metav1.FinalizerDeleteDependents)
		}
	}
}

// blocked reports whether something is left that an owner waits for.
func (g garbage) blocked(uid string) bool {
	return slices.ContainsFunc(g.dependents(uid), func(o Object) bool {
		return slices.ContainsFunc(ownersOf(o), func(w owner) bool { return w.uid == uid && w.blocks })
	})
}

// finalized takes a finalizer off an object that is going.
func (g garbage) finalized(o Object, finalizer string) {
	o = g.server.storage.objects[ID(o)]
	if o == nil {
		return
	}
	next := copied(o)
	setFinalizers(next, slices.DeleteFunc(finalizers(next), func(f string) bool { return f == finalizer }))
	kind := g.server.kindOf(o)
	g.server.store(kind, o, g.server.managers.tracked(kind, fieldsKey{GVK: ID(o).GVK()}, o, next, collector))
}

// released looks at the owners of an object that is gone: one that waits may
// go now.
func (g garbage) released(gone Object) {
	for _, w := range ownersOf(gone) {
		if g.waiting(w.uid) && !g.blocked(w.uid) {
			g.finalized(g.server.storage.objects[g.server.storage.owners[w.uid]], metav1.FinalizerDeleteDependents)
		}
	}
}
