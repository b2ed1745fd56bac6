package apiserver

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/world"
)

// scaling writes the subresource scale.
type scaling struct{ server *Server }

// scale merges a patch of a Scale into it: the number of replicas becomes the
// object's. Nothing else of an object can be changed so.
func (s scaling) scale(kind kind, old, body Object, o Options) (Object, error) {
	id := ID(old)
	path, _ := s.server.schemas.Scale(kind.gvk)
	if path == "" {
		return nil, noSubresource(id, "scale")
	}
	fields := strings.Split(path, ".")
	was, found, err := unstructured.NestedInt64(old, fields...)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("the field %s is no number: %w", path, err))
	}
	before := Object{"metadata": Object{"resourceVersion": metadata(old)["resourceVersion"]}, "spec": Object{"replicas": was}}
	after, err := Merged(before, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	replicas, _, err := unstructured.NestedInt64(after, "spec", "replicas")
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if replicas < 0 {
		return nil, invalid(id, "spec.replicas", "must be greater than or equal to 0")
	}
	next := copied(old)
	metadata(next)["resourceVersion"] = metadata(after)["resourceVersion"]
	if next, err = s.scaled(kind, old, next, replicas, fields, o.Manager, found); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.server.update(kind, old, next, Options{Manager: o.Manager})
}

// scaled sets the number of replicas. Nobody manages a 0: a Scale with it has no
// such field. Nor does anybody manage the first number of a custom object.
func (s scaling) scaled(kind kind, old, next Object, replicas int64, fields []string, manager string, found bool) (Object, error) {
	if !found && !kind.builtin() {
		return next, unstructured.SetNestedField(next, replicas, fields...)
	}
	key := fieldsKey{GVK: kind.gvk, subresource: "scale"}
	if replicas == 0 {
		unstructured.RemoveNestedField(next, fields...)
		next = s.server.managers.tracked(kind, key, old, next, manager)
		return next, unstructured.SetNestedField(next, replicas, fields...)
	}
	err := unstructured.SetNestedField(next, replicas, fields...)
	return s.server.managers.tracked(kind, key, old, next, manager), err
}

// noSubresource is the answer of an API server to a request for a path that it does
// not have.
func noSubresource(id world.ID, name string) error {
	err := apierrors.NewNotFound(resourceOf(id), id.Name())
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: id.Kind() + " has no subresource " + name}}
	return err
}
