package main

import (
	"fmt"
	"strings"
)

// object is a JSON schema, or a part of one.
type object = map[string]any

// document returns the schema of a kind of document.
func (s structs) document(kind string) (object, error) {
	w := writer{structs: s, definitions: object{}}
	out, err := w.structure(kind)
	if err != nil {
		return nil, err
	}
	out["$schema"], out["title"] = "http://json-schema.org/draft-07/schema#", kind
	out["definitions"] = w.definitions
	return out, nil
}

// writer writes a schema with a definition of each type that it uses.
type writer struct {
	structs
	definitions object
}

// structure returns the schema of a mapping with known fields.
func (w *writer) structure(name string) (object, error) {
	t, ok := w.structs[name]
	if !ok {
		return nil, fmt.Errorf("unknown type %s", name)
	}
	properties, required := object{}, []string{}
	for _, f := range t.fields {
		schema, err := w.field(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
		}
		properties[f.name] = schema
		if f.required {
			required = append(required, f.name)
		}
	}
	out := object{"type": "object", "description": t.comment, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	if choice := alternatives(t.fields); choice != nil {
		out["oneOf"] = choice
	}
	return out, nil
}

// alternatives says that either some fields are required, or the one instead of them;
// nil when there are none.
func alternatives(fields []field) []object {
	var these []string
	instead := ""
	for _, f := range fields {
		if f.or != "" {
			these, instead = append(these, f.name), f.or
		}
	}
	if these == nil {
		return nil
	}
	return []object{{"required": these}, {"required": []string{instead}}}
}

// field returns the schema of a field. Beside a $ref, draft 7 ignores all else, so
// that a description needs an allOf.
func (w *writer) field(f field) (object, error) {
	if len(f.enum) > 0 {
		return object{"description": f.comment, "enum": f.enum}, nil
	}
	out, err := w.of(f.of)
	if err != nil {
		return nil, err
	}
	if _, isRef := out["$ref"]; isRef {
		out = object{"allOf": []object{out}}
	}
	if f.with != "" {
		out["required"] = []string{f.with}
	}
	out["description"] = f.comment
	return out, nil
}

// of returns the schema of a type as the loader decodes it.
func (w *writer) of(name string) (object, error) {
	if name = strings.TrimPrefix(name, "*"); name == "Template" || name == "document.Node" {
		return object{}, nil // any YAML
	}
	switch elem, isList := strings.CutPrefix(name, "[]"); {
	case name == "bool":
		return object{"type": "boolean"}, nil
	case name == "Text": // a scalar: the expressions true and 3 are texts, too
		return scalar(), nil
	case strings.HasPrefix(elem, "Entry["):
		value, err := w.of(strings.TrimSuffix(strings.TrimPrefix(elem, "Entry["), "]"))
		return object{"type": "object", "additionalProperties": value}, err
	case isList:
		items, err := w.of(elem)
		return object{"type": "array", "items": items}, err
	}
	return object{"$ref": "#/definitions/" + name}, w.define(name)
}

func scalar() object { return object{"type": []string{"string", "number", "boolean"}} }

// define adds the definition of a type. Some are also written in a short form.
func (w *writer) define(name string) error {
	if _, done := w.definitions[name]; done {
		return nil
	}
	w.definitions[name] = object{} // types may contain themselves
	out, err := w.structure(name)
	switch name {
	case "Target", "Finalizer", "Condition": // or an expression, or the name alone
		out = object{"anyOf": []object{scalar(), out}}
	case "Param": // or its default alone
		out = object{"if": object{"type": "object"}, "then": out}
	}
	w.definitions[name] = out
	return err
}
