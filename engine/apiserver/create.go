package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/world"
)

// Options are those of a write.
type Options struct {
	// Manager is the field manager.
	Manager string
	// Subresource is "", "status", "scale" or "approval".
	Subresource string
	// Force lets an apply take fields that others manage.
	Force bool
	// applied says that the write is an apply.
	applied bool
}

// Create makes an object, and returns it as it is stored.
func (s *Server) Create(given Object, o Options) (Object, error) {
	next := copied(given)
	m := metadata(next)
	if text(m, "resourceVersion") != "" {
		return nil, apierrors.NewInternalError(errors.New("resourceVersion should not be set on objects to be created"))
	}
	if text(m, "name") == "" {
		prefix := text(m, "generateName")
		if prefix == "" {
			return nil, invalid(ID(next), "metadata.name", "name or generateName is required")
		}
		m["name"] = prefix + s.storage.suffix()
	}
	id := ID(next)
	if s.storage.objects[id] != nil {
		return nil, apierrors.NewAlreadyExists(resourceOf(id), id.Name())
	}
	kind := s.kindOf(next)
	born(next)
	kind.normalize(next, nil, false)
	return s.born(kind, s.managers.tracked(kind, fieldsKey{GVK: id.GVK()}, nil, next, o.Manager))
}

// born takes from a new object what the server sets by itself.
func born(o Object) {
	for _, field := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink", "resourceVersion", "managedFields"} {
		delete(metadata(o), field)
	}
}

func (s *Server) born(kind kind, next Object) (Object, error) {
	if kind.hasStatus() {
		delete(next, "status")
	}
	if err := s.valid(kind, nil, next, ""); err != nil {
		return nil, err
	}
	metadata(next)["creationTimestamp"] = s.now.timestamp()
	s.storage.add(kind, next)
	garbage{s}.stray(next)
	return next, nil
}

// Apply makes an object, or merges what is given into it as server-side apply
// does.
func (s *Server) Apply(id world.ID, given Object, o Options) (Object, error) {
	kind := s.kindOf(given)
	old := s.storage.objects[id]
	if err := applicable(kind, id, old, given, o); err != nil {
		return nil, err
	}
	key := fieldsKey{GVK: id.GVK(), subresource: o.Subresource}
	f, err := s.managers.of(kind, key)
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{Object: Object{"apiVersion": id.APIVersion(), "kind": id.Kind()}}
	if old != nil {
		live.Object = copied(old)
	}
	merged, err := f.Apply(live, &unstructured.Unstructured{Object: copied(given)}, o.Manager, o.Force)
	if err != nil {
		return nil, withStatus(err)
	}
	next := merged.(*unstructured.Unstructured).Object
	s.managers.stamp(old, next)
	if old != nil {
		o.applied = true
		return s.update(kind, old, next, o)
	}
	fields := metadata(next)["managedFields"]
	born(next)
	if fields != nil {
		metadata(next)["managedFields"] = fields
	}
	kind.normalize(next, nil, true)
	return s.born(kind, next)
}

// applicable refuses an apply that cannot be.
func applicable(kind kind, id world.ID, old, given Object, o Options) error {
	switch {
	case o.Manager == "":
		return apierrors.NewInvalid(kschema.GroupKind{Group: "meta.k8s.io", Kind: "PatchOptions"}, "", field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")})
	case o.Subresource != "" && (old == nil || !kind.serves(o.Subresource)):
		return apierrors.NewNotFound(resourceOf(id), id.Name())
	case ID(given) != id:
		return apierrors.NewBadRequest(fmt.Sprintf("the object is %v, the request is for %v", ID(given), id))
	case old == nil && (text(metadata(given), "uid") != "" || text(metadata(given), "resourceVersion") != ""):
		return apierrors.NewConflict(resourceOf(id), id.Name(), errors.New("the object that is meant does not exist"))
	}
	return nil
}

func resourceOf(id world.ID) kschema.GroupResource {
	return kschema.GroupResource{Group: id.Group(), Resource: id.Kind()}
}

func invalid(id world.ID, path, reason string) error {
	return refused(id, field.Invalid(field.NewPath(path), nil, reason))
}

// refused is the error of an object with what is wrong with it.
func refused(id world.ID, found ...*field.Error) error {
	return apierrors.NewInvalid(kschema.GroupKind{Group: id.Group(), Kind: id.Kind()}, id.Name(), found)
}

// withStatus returns an error as the API server answers it: one without a status, such as that
// an apply does not fit the schema, has the code 500 and no reason.
func withStatus(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}
