package world

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// ID is the identity of an object: its kind, namespace and name. Only Identify makes one, so
// that its namespace and its name are always single segments of the path of a request. The
// zero value is that of no object.
type ID struct {
	gvk             schema.GVK
	namespace, name string
}

// Identify returns the identity of an object of a kind. It returns an error, and the kind
// alone, if the name or the namespace cannot be a segment of a path; the namespace may be
// empty, the name may not.
func Identify(gvk schema.GVK, namespace, name string) (ID, error) {
	err := segment(gvk, "name", name)
	if name == "" {
		err = fmt.Errorf("the name of a %s is empty", gvk.Kind)
	}
	if err == nil {
		err = segment(gvk, "namespace", namespace)
	}
	if err != nil {
		return ID{gvk: gvk}, err
	}
	return ID{gvk, namespace, name}, nil
}

// Check returns an error if the API server takes no object of the name, by the rule for the
// names of its kind, or no namespace of its name.
func (id ID) Check(naming schema.Naming) error {
	if naming == nil {
		return nil
	}
	if wrong := naming(id.name, false); len(wrong) > 0 {
		return fmt.Errorf("%q cannot be the name of a %s: %s", value.Cut(id.name, shown), id.gvk.Kind, wrong[0])
	}
	if wrong := validation.ValidateNamespaceName(id.namespace, false); id.namespace != "" && len(wrong) > 0 {
		return fmt.Errorf("%q cannot be the namespace of a %s: %s", value.Cut(id.namespace, shown), id.gvk.Kind, wrong[0])
	}
	return nil
}

// shown is how many bytes of a name an error has.
const shown = 100

func segment(gvk schema.GVK, what, text string) error {
	if wrong := content.IsPathSegmentName(text); len(wrong) > 0 {
		return fmt.Errorf("%q cannot be the %s of a %s: it %s", value.Cut(text, shown), what, gvk.Kind, wrong[0])
	}
	return nil
}

// GVK returns the kind.
func (id ID) GVK() schema.GVK { return id.gvk }

// APIVersion returns the API version of the kind.
func (id ID) APIVersion() string { return id.gvk.APIVersion }

// Group returns the API group of the kind.
func (id ID) Group() string { return id.gvk.Group() }

// Kind returns the name of the kind.
func (id ID) Kind() string { return id.gvk.Kind }

// Namespace returns the namespace; it is empty if the object is in none.
func (id ID) Namespace() string { return id.namespace }

// Name returns the name of the object.
func (id ID) Name() string { return id.name }

// CompareIDs orders identities by kind, namespace and name.
func CompareIDs(a, b ID) int {
	return cmp.Or(cmp.Compare(a.gvk.APIVersion, b.gvk.APIVersion), cmp.Compare(a.gvk.Kind, b.gvk.Kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
}

// ID returns the identity of the object.
func (o *Object) ID() ID { return ID{o.GVK, o.Namespace, o.Name} }

// MustIdentify is Identify for names that are written out in code; it panics if there can be no
// such object.
func MustIdentify(gvk schema.GVK, namespace, name string) ID {
	id, err := Identify(gvk, namespace, name)
	if err != nil {
		panic(err)
	}
	return id
}
