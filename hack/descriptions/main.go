// Command descriptions writes what Kubernetes says of the fields of its own kinds, as
// k8s.io/api has it, to a compressed file for the language server: the schemas of
// the engine are without it.
//
//	go run ./hack/descriptions [-o engine/lsp/fielddoc/builtin.json.gz] [-check]
//
// With -check it writes nothing, and fails when the file has another text.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/edict-dev/edict/engine/lsp/fielddoc"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/hack/packed"
)

func main() {
	output := flag.String("o", "engine/lsp/fielddoc/builtin.json.gz", "file to write")
	check := flag.Bool("check", false, "write nothing, fail when the file is not up to date")
	flag.Parse()
	if err := run(*output, *check); err != nil {
		fmt.Fprintln(os.Stderr, "descriptions:", err)
		os.Exit(1)
	}
}

func run(output string, check bool) error {
	texts := all()
	// Another version of Go may compress the same text to other bytes.
	if written, err := os.ReadFile(output); err == nil {
		if old, err := fielddoc.Unpack(written); err == nil && cmp.Equal(old, texts) {
			return nil
		}
	}
	if check {
		return fmt.Errorf("%s is not up to date: go run ./hack/descriptions", output)
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	small, err := packed.Pack(text)
	if err != nil {
		return err
	}
	return os.WriteFile(output, small, 0o644)
}

// all returns the texts of all kinds that the engine has schemas of.
func all() map[string]map[string]string {
	w := walk{}
	for gvk, of := range scheme.Scheme.AllKnownTypes() {
		if _, known := schema.Builtin().Kind(schema.GVK{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}); known {
			w.visit(of)
		}
	}
	return w
}

// walk collects texts by definitions and fields.
type walk map[string]map[string]string

// visit adds a type and those of its fields.
func (w walk) visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		w.visit(t.Elem())
	case reflect.Struct:
		w.structure(t)
	default:
	}
}
