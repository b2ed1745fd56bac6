package schema

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtinDocument holds the schemas of the built-in kinds, fetched from a real
// API server by hack/openapi.
//
//go:embed builtin.json.gz
var builtinDocument []byte

// Builtin returns the kinds that every cluster has.
var Builtin = sync.OnceValue(func() *Set {
	set := NewSet(nil)
	reader, err := gzip.NewReader(bytes.NewReader(builtinDocument))
	if err != nil {
		panic(fmt.Sprintf("the embedded OpenAPI document: %v", err))
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		panic(fmt.Sprintf("the embedded OpenAPI document: %v", err))
	}
	if err := set.addOpenAPI(text, false); err != nil {
		panic(fmt.Sprintf("the embedded OpenAPI document: %v", err))
	}
	return set
})

// openAPIDocument is what is read of an OpenAPI v3 document. Its paths are most of it.
type openAPIDocument struct {
	Paths      map[string]servedPath `json:"paths"`
	Components json.RawMessage       `json:"components"`
}

// schemasOf reads the schemas under components.
func schemasOf(components []byte) (map[string]*spec.Schema, error) {
	var out struct {
		Schemas map[string]*spec.Schema `json:"schemas"`
	}
	if len(components) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(components, &out)
	return out.Schemas, err
}

const (
	gvkExtension    = "x-kubernetes-group-version-kind"
	schemaReference = "#/components/schemas/"
)

// AddOpenAPI adds every kind of an OpenAPI v3 document, as an API server
// serves it under /openapi/v3. The document is one of a group of custom kinds:
// the built-in ones are known.
func (s *Set) AddOpenAPI(text []byte) error { return s.addOpenAPI(text, true) }

func (s *Set) addOpenAPI(text []byte, custom bool) error {
	var doc openAPIDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	schemas, err := schemasOf(doc.Components)
	if err != nil {
		return fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	b := builder{schemas: schemas, named: map[string]*Type{}, builtin: !custom}
	kinds := map[GVK]string{}
	for name, schema := range schemas {
		for _, gvk := range kindsOf(schema) {
			t := b.lookup(name)
			if t.Kind == Object && t.Fields["metadata"] != nil {
				s.Add(gvk, t)
				kinds[gvk] = name
			}
		}
	}
	served := servedBy(doc.Paths)
	if custom {
		s.keep(Text{Text: string(text)})
	}
	s.addServed(served, kinds)
	s.addStructures(kinds, documented{doc.Components, served, custom})
	return nil
}

func kindsOf(schema *spec.Schema) (out []GVK) {
	list, _ := schema.Extensions[gvkExtension].([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		group, _ := m["group"].(string)
		version, _ := m["version"].(string)
		kind, _ := m["kind"].(string)
		if group != "" {
			version = group + "/" + version
		}
		out = append(out, GVK{APIVersion: version, Kind: kind})
	}
	return out
}

// builder turns JSON schemas into types; references are followed once, so
// recursive schemas end.
type builder struct {
	schemas map[string]*spec.Schema
	named   map[string]*Type
	// builtin is true for schemas of built-in kinds.
	builtin bool
	// describe, if set, is told of the fields of each object.
	describe func(name string, fields map[string]spec.Schema)
}

// defined are the types of definitions whose values the API server stores in a form of
// its own.
var defined = map[string]*Type{
	QuantityDefinition:  {Kind: Dyn, Quantity: true},
	TimeDefinition:      {Kind: Time, Cut: time.Second},
	MicroTimeDefinition: {Kind: Time, Cut: time.Microsecond},
	intOrString:         {Kind: Dyn, IntOrString: true, limits: narrow},
}

func (b *builder) lookup(name string) *Type {
	if t, ok := b.named[name]; ok {
		return t
	}
	schema, ok := b.schemas[name]
	if !ok {
		return Any
	}
	if known := defined[name]; known != nil {
		return known
	}
	t := &Type{}
	b.named[name] = t
	*t = *b.build(schema, name)
	t.narrow()
	return t
}

// build makes the type of a schema; path names the object types in it.
func (b *builder) build(schema *spec.Schema, path string) *Type {
	if ref := schema.Ref.String(); ref != "" {
		return b.lookup(strings.TrimPrefix(ref, schemaReference))
	}
	if len(schema.AllOf) == 1 && len(schema.Properties) == 0 {
		return b.build(&schema.AllOf[0], path)
	}
	if on, _ := schema.Extensions.GetBool("x-kubernetes-int-or-string"); on {
		return &Type{Kind: Dyn, IntOrString: true, limits: limitsOf(schema)}
	}
	if schema.Format == "int-or-string" {
		return Any
	}
	if len(schema.Type) == 0 {
		if len(schema.Properties) > 0 {
			return b.object(schema, path)
		}
		return Any
	}
	switch schema.Type[0] {
	case "object":
		return b.object(schema, path)
	case "array":
		list := &Type{Kind: List, Elem: Any, limits: limitsOf(schema)}
		if schema.Items != nil && schema.Items.Schema != nil {
			list.Elem = b.build(schema.Items.Schema, path+"[]")
		}
		sort, _ := schema.Extensions.GetString("x-kubernetes-list-type")
		list.Merged = sort == "map" || sort == "set"
		list.Keys, _ = schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
		return list
	default:
		return scalarType(schema)
	}
}

func scalarType(schema *spec.Schema) *Type {
	switch schema.Type[0] {
	case "integer":
		return &Type{Kind: Int, limits: limitsOf(schema)}
	case "number":
		return &Type{Kind: Double, limits: limitsOf(schema)}
	case "boolean":
		return &Type{Kind: Bool}
	case "string":
		if schema.Format == "date-time" {
			return &Type{Kind: Time, limits: limitsOf(schema)}
		}
		return &Type{Kind: String, Enum: enumOf(schema), limits: limitsOf(schema)}
	default:
		return Any
	}
}

func enumOf(schema *spec.Schema) (out []string) {
	for _, v := range schema.Enum {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (b *builder) object(schema *spec.Schema, path string) *Type {
	open, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	if len(schema.Properties) == 0 {
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			return &Type{Kind: Map, Elem: b.build(schema.AdditionalProperties.Schema, path+"{}")}
		}
		return Any
	}
	merging, _ := schema.Extensions.GetString("x-kubernetes-map-type")
	t := &Type{Kind: Object, Name: path, Open: open, Atomic: merging == "atomic", Fields: map[string]*Type{}, present: presentFields(schema), defaults: defaultsOf(schema)}
	if b.describe != nil {
		b.describe(path, schema.Properties)
	}
	t.Omits = b.builtin || strings.HasPrefix(path, metaPackage)
	if path == MetaDefinition {
		t.identity = identity
	}
	for name := range schema.Properties {
		property := schema.Properties[name]
		constrain(&property, path, name)
		t.Fields[name] = b.build(&property, path+"."+name)
		if property.Nullable {
			t.nullable = append(t.nullable, name)
		}
	}
	return t
}
