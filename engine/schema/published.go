package schema

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// published returns the schema of a custom kind as the API server publishes it: with the
// fields that every kind has, of embedded objects as well.
func published(gvk GVK, root *spec.Schema) *spec.Schema {
	out := rewritten(*root, func(s *spec.Schema) {
		if on, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); on {
			addMeta(s)
		}
	})
	addMeta(&out)
	out.Extensions = maps.Clone(root.Extensions)
	version := gvk.APIVersion[strings.Index(gvk.APIVersion, "/")+1:]
	out.AddExtension(gvkExtension, []any{map[string]any{"group": gvk.Group(), "version": version, "kind": gvk.Kind}})
	return &out
}

// definedBy returns the schema of the CRD of a custom kind that was published: without the
// fields that every kind has, and without what publishing adds for embedded objects and for
// numbers or texts. That is validated apart from the schema.
func definedBy(root *spec.Schema) *spec.Schema {
	out := rewritten(*root, func(s *spec.Schema) {
		if on, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); on {
			s.AnyOf = nil
		}
		if on, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); on {
			delete(s.Properties, "metadata")
			s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return name == "apiVersion" || name == "kind" })
		}
	})
	return out.SetProperty("metadata", *new(spec.Schema).Typed("object", ""))
}

// rewritten returns a copy of a schema with a change made to it and to all schemas in it.
func rewritten(s spec.Schema, change func(s *spec.Schema)) spec.Schema {
	s.Properties = maps.Clone(s.Properties)
	for name, property := range s.Properties {
		s.Properties[name] = rewritten(property, change)
	}
	if s.Items != nil && s.Items.Schema != nil {
		item := rewritten(*s.Items.Schema, change)
		s.Items = &spec.SchemaOrArray{Schema: &item}
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		elem := rewritten(*more.Schema, change)
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &elem}
	}
	change(&s)
	return s
}

// addMeta adds the fields of all objects to a schema with properties of its own.
func addMeta(s *spec.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	s.Properties["metadata"] = *spec.RefSchema(schemaReference + MetaDefinition)
	for _, name := range []string{"apiVersion", "kind"} {
		s.Properties[name] = *spec.StringProperty()
	}
}
