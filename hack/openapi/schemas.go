package main

import (
	"errors"
	"fmt"
	"reflect"
)

// merge adds a document's schemas, stripped, to merged. Groups share schemas,
// those of metadata for example; two by one name must be the same.
func merge(merged, document map[string]any) error {
	components, _ := document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if len(schemas) == 0 {
		return errors.New("no components.schemas")
	}
	for name, schema := range schemas {
		strip(schema)
		if isEnvelope(name) {
			fields, _ := schema.(map[string]any)
			delete(fields, "x-kubernetes-group-version-kind")
		}
		if known, ok := merged[name]; ok && !reflect.DeepEqual(known, schema) {
			return fmt.Errorf("two schemas are called %s", name)
		}
		merged[name] = schema
	}
	return nil
}

// isEnvelope is true for what travels with requests of every group. Its list of
// groups is a different one in the documents of different servers.
func isEnvelope(name string) bool {
	const prefix = "io.k8s.apimachinery.pkg.apis.meta.v1."
	return name == prefix+"DeleteOptions" || name == prefix+"WatchEvent"
}

// strip removes the descriptions of a schema and of every schema in it. It
// follows the places where schemas stand, since "description" is also the name
// of a field of some kinds.
func strip(schema any) {
	fields, ok := schema.(map[string]any)
	if !ok {
		return
	}
	delete(fields, "description")
	for _, key := range []string{"items", "additionalProperties", "not"} {
		strip(fields[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := fields[key].([]any)
		for _, item := range list {
			strip(item)
		}
	}
	properties, _ := fields["properties"].(map[string]any)
	for _, property := range properties {
		strip(property)
	}
}
