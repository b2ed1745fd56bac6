package schema

import (
	"maps"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// published returns the schema of a custom kind as the API server publishes it: with the
// fields that every kind has, of embedded objects as well.
func published(gvk GVK, root *spec.Schema) *spec.Schema {
	out := withEmbedded(*root)
	addMeta(&out)
	out.Extensions = maps.Clone(root.Extensions)
	version := gvk.APIVersion[strings.Index(gvk.APIVersion, "/")+1:]
	out.AddExtension(gvkExtension, []any{map[string]any{"group": gvk.Group(), "version": version, "kind": gvk.Kind}})
	return &out
}

// withEmbedded returns a schema in which embedded objects have the fields of all objects.
func withEmbedded(s spec.Schema) spec.Schema {
	s.Properties = maps.Clone(s.Properties)
	for name, property := range s.Properties {
		s.Properties[name] = withEmbedded(property)
	}
	if s.Items != nil && s.Items.Schema != nil {
		item := withEmbedded(*s.Items.Schema)
		s.Items = &spec.SchemaOrArray{Schema: &item}
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		elem := withEmbedded(*more.Schema)
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &elem}
	}
	if on, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); on {
		addMeta(&s)
	}
	return s
}

// addMeta adds the fields of all objects to a schema with properties of its own.
func addMeta(s *spec.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	s.Properties["metadata"] = *spec.RefSchema(schemaReference + metaDefinition)
	for _, name := range []string{"apiVersion", "kind"} {
		s.Properties[name] = *spec.StringProperty()
	}
}
