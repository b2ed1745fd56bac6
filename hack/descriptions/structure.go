package main

import (
	"maps"
	"reflect"
	"strings"
)

// documented is what the generated code of k8s.io/api implements: the texts of a
// type's fields by their names in JSON, with that of the type under "".
type documented interface{ SwaggerDoc() map[string]string }

func (w walk) structure(t reflect.Type) {
	name := definition(t)
	if _, known := w[name]; known || !strings.HasPrefix(name, "io.k8s.") {
		return
	}
	texts := map[string]string{}
	w[name] = texts
	add(texts, t)
	if len(texts) == 0 {
		delete(w, name)
	}
	for i := range t.NumField() {
		w.visit(t.Field(i).Type)
	}
}

// add adds the texts of a type, with those of types whose fields are its own.
func add(texts map[string]string, t reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); inlined(f) {
			add(texts, f.Type)
		}
	}
	if doc, ok := reflect.TypeAssert[documented](reflect.Zero(t)); ok {
		maps.Copy(texts, doc.SwaggerDoc())
	}
	delete(texts, "")
}

// inlined reports whether the fields of a field are those of its type: in JSON it has no
// name of its own.
func inlined(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct
}

// definition returns the name of a type in the OpenAPI document.
func definition(t reflect.Type) string {
	path, ok := strings.CutPrefix(t.PkgPath(), "k8s.io/")
	if !ok {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}
