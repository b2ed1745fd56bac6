package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/edict-dev/edict/engine/schema/validation"
)

// Structure is the schema of a kind as an API server uses it to merge, default
// and prune objects. [Type] is the smaller view of it that expressions need.
type Structure struct {
	// Root is the schema of the kind itself.
	Root *spec.Schema
	// Definitions resolve the references in it.
	Definitions *Definitions
	// Custom says that a CRD defines the kind: all its defaults are applied and
	// unknown fields are pruned.
	Custom bool
	// Status says that status is a subresource.
	Status bool
	// Scale is the path of the field that the subresource scale sets, such as
	// spec.replicas, of a kind that a CRD defines; "" is none, or not known. Published
	// types do not tell the path: Scaled says whether it is known, and not taken for the
	// usual one.
	Scale  string
	Scaled bool
	// validator makes the validator of a custom kind; nil is that there is none.
	validator func() *validation.Validator
}

// Definitions are schemas that refer to each other by name.
type Definitions struct {
	schemas map[string]*spec.Schema
	typed   func() (managedfields.TypeConverter, error)
}

func newDefinitions(schemas map[string]*spec.Schema) *Definitions {
	return &Definitions{schemas: schemas, typed: sync.OnceValues(func() (managedfields.TypeConverter, error) {
		return managedfields.NewTypeConverter(schemas, false)
	})}
}

// Typed returns the converter by which server-side apply merges the kinds of the
// definitions. It is made once.
func (d *Definitions) Typed() (managedfields.TypeConverter, error) { return d.typed() }

// Resolve follows the references of a schema; name is that of the definition
// it leads to, "" for a schema that is written in place.
func (d *Definitions) Resolve(s *spec.Schema) (resolved *spec.Schema, name string) {
	for range 8 { // references of references; a cycle has no schema
		switch ref := s.Ref.String(); {
		case ref != "":
			name = strings.TrimPrefix(ref, schemaReference)
			next, ok := d.schemas[name]
			if !ok {
				return &spec.Schema{}, name
			}
			s = next
		case len(s.AllOf) == 1 && len(s.Properties) == 0 && len(s.Type) == 0:
			s = &s.AllOf[0]
		default:
			return s, name
		}
	}
	return &spec.Schema{}, name
}

const (
	// MetaDefinition names the schema of the metadata of objects.
	MetaDefinition = metaPackage + "ObjectMeta"
	metaPackage    = "io.k8s.apimachinery.pkg.apis.meta.v1."
	// QuantityDefinition names the schema of quantities such as 100m.
	QuantityDefinition = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	// TimeDefinition names that of the times of built-in kinds, which have whole seconds.
	TimeDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
	// MicroTimeDefinition names that of times with microseconds.
	MicroTimeDefinition = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"
	intOrString         = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
)

// Structure returns the structure of a kind; false when no schema is known.
func (s *Set) Structure(gvk GVK) (*Structure, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.RLock()
	f, ok := s.structures[gvk]
	s.mu.RUnlock()
	if !ok {
		return s.next.Structure(gvk)
	}
	out := f()
	return out, out != nil
}

func (s *Set) addStructure(gvk GVK, f func() *Structure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.structures[gvk] = f
}

// documented is what an OpenAPI document says of kinds.
type documented struct {
	components []byte
	served     map[GVK]served
	custom     bool
}

// addStructures adds those of a document's kinds. The schemas are read again
// when the first of them is asked for: few who need types need structures.
func (s *Set) addStructures(kinds map[GVK]string, by documented) {
	definitions := sync.OnceValue(func() *Definitions {
		schemas, err := schemasOf(by.components)
		if err != nil {
			return newDefinitions(nil) // it was read before
		}
		return newDefinitions(schemas)
	})
	for gvk, name := range kinds {
		s.addStructure(gvk, sync.OnceValue(func() *Structure {
			d := definitions()
			root, ok := d.schemas[name]
			if !ok {
				return nil
			}
			return by.structure(gvk, root, d)
		}))
	}
}

// structure returns that of a kind. Where the document does not say how it is served, a
// field status is taken for the subresource.
func (by documented) structure(gvk GVK, root *spec.Schema, d *Definitions) *Structure {
	out := &Structure{Root: root, Definitions: d, Custom: by.custom}
	_, out.Status = root.Properties["status"]
	if !by.custom {
		return out
	}
	out.validator = validatorOf(func() ([]byte, error) { return json.Marshal(definedBy(root)) })
	if how, known := by.served[gvk]; known {
		out.Status, out.Scaled = how.status, !how.scale
		if how.scale && counts(root, "spec", "replicas") {
			out.Scale = builtinScale
		}
	}
	return out
}

// counts reports whether a schema has a field of whole numbers.
func counts(s *spec.Schema, path ...string) bool {
	for _, name := range path {
		property, ok := s.Properties[name]
		if !ok {
			return false
		}
		s = &property
	}
	return s.Type.Contains("integer")
}

// customStructure returns the structure of a version of a CRD.
func customStructure(gvk GVK, root *spec.Schema, status bool, scale string) *Structure {
	root = published(gvk, root)
	builtin, _ := Builtin().Structure(GVK{APIVersion: "v1", Kind: "ConfigMap"})
	schemas := map[string]*spec.Schema{gvk.Kind: root}
	for _, name := range builtin.Definitions.below(MetaDefinition) {
		schemas[name] = builtin.Definitions.schemas[name]
	}
	return &Structure{Root: root, Definitions: newDefinitions(schemas), Custom: true, Status: status, Scale: scale, Scaled: true}
}

// below returns a definition and all that it refers to.
func (d *Definitions) below(name string) []string {
	seen := map[string]bool{}
	var visit func(s *spec.Schema)
	visit = func(s *spec.Schema) {
		if ref := strings.TrimPrefix(s.Ref.String(), schemaReference); ref != "" && !seen[ref] && d.schemas[ref] != nil {
			seen[ref] = true
			visit(d.schemas[ref])
		}
		for i := range s.AllOf {
			visit(&s.AllOf[i])
		}
		for _, property := range s.Properties {
			visit(&property)
		}
		if s.Items != nil && s.Items.Schema != nil {
			visit(s.Items.Schema)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			visit(s.AdditionalProperties.Schema)
		}
	}
	visit(spec.RefSchema(schemaReference + name))
	return slices.Collect(maps.Keys(seen))
}
