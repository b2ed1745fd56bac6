package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/world"
)

// Patch merges a JSON merge patch into an object, or into its status, and
// gives what it is then. A resourceVersion in the patch is a precondition.
func (s *Server) Patch(id world.ID, body Object, o Options) (Object, error) {
	old := s.storage.objects[id]
	if old == nil {
		return nil, apierrors.NewNotFound(resourceOf(id), id.Name())
	}
	kind := s.kindOf(old)
	if o.Subresource == "scale" {
		return scaling{s}.scale(kind, old, body, o)
	}
	if !kind.serves(o.Subresource) {
		return nil, noSubresource(id, o.Subresource)
	}
	next, err := Merged(old, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if metadata(next) == nil {
		next["metadata"] = Object{}
	}
	if ID(next) != id {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the patch would make the object %v, the request is for %v", ID(next), id))
	}
	kind.normalize(next, old, false)
	return s.update(kind, old, s.managers.tracked(kind, fieldsKey{GVK: id.GVK(), subresource: o.Subresource}, old, next, o.Manager), o)
}

// Merged returns an object with changes merged into it (RFC 7386).
func Merged(old, body Object) (Object, error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, err
	}
	return Decode(after)
}

// update stores the next state of an object as far as the request may change
// it.
func (s *Server) update(kind kind, old, next Object, o Options) (Object, error) {
	id, m, was := ID(old), metadata(next), metadata(old)
	if version := text(m, "resourceVersion"); version != "" && version != text(was, "resourceVersion") {
		return nil, apierrors.NewConflict(resourceOf(id), id.Name(), fmt.Errorf("the object has been modified; it is at %s", text(was, "resourceVersion")))
	}
	if err := lasting(id, was, m); err != nil {
		return nil, err
	}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		restore(m, was, field)
	}
	kind.normalize(next, old, o.applied)
	var err error
	switch {
	case o.Subresource == approvalSubresource:
		next, err = deciding{s.now}.approved(old, next)
	case o.Subresource == "status":
		fields, whole := m["managedFields"], next
		next = copied(old)
		restore(next, whole, "status")
		if fields != nil {
			metadata(next)["managedFields"] = fields
		}
		if kind.gvk == requestKind {
			next, err = deciding{s.now}.reported(old, next)
		}
	case kind.hasStatus():
		restore(next, old, "status")
		if kind.gvk == requestKind {
			restore(next, old, "spec")
		}
	}
	if err != nil {
		return nil, err
	}
	if err := noNewFinalizers(id, old, next); err != nil {
		return nil, err
	}
	if err := kind.immutable(old, next); err != nil {
		return nil, err
	}
	if err := s.valid(kind, old, next, o.Subresource); err != nil {
		return nil, err
	}
	return s.store(kind, old, next), nil
}

// lasting refuses a change of what an object keeps for life.
func lasting(id world.ID, old, next Object) error {
	if uid := text(next, "uid"); uid != "" && uid != text(old, "uid") {
		return invalid(id, "metadata.uid", "field is immutable")
	}
	if next["deletionTimestamp"] != nil && old["deletionTimestamp"] == nil {
		return invalid(id, "metadata.deletionTimestamp", "field is immutable")
	}
	return nil
}

// noNewFinalizers refuses a finalizer that comes when the object is going.
func noNewFinalizers(id world.ID, old, next Object) error {
	if !deleting(old) {
		return nil
	}
	before := finalizers(old)
	for _, name := range finalizers(next) {
		if !slices.Contains(before, name) {
			return invalid(id, "metadata.finalizers", "no new finalizers can be added if the object is being deleted, found new finalizer "+name)
		}
	}
	return nil
}
