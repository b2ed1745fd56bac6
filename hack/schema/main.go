// Command schema writes a JSON schema for each kind of document, for editors and
// for checks without Edict:
//
//	go run ./hack/schema [-check] [-types engine/api/v1alpha1] [-o docs/schema]
//
// It reads the types of the API group: a field takes the name of its yaml tag, its
// comment is the description, and its schema tag says whether it is required,
// also if another one is not there instead, and which texts it may be. With -check it writes nothing and fails when a file is
// not as it would be.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	types := flag.String("types", "engine/api/v1alpha1", "the folder of the types")
	output := flag.String("o", "docs/schema", "the folder to write into")
	check := flag.Bool("check", false, "write nothing, say whether it differs")
	flag.Parse()
	if err := run(*types, *output, *check); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// kinds are the types of the documents.
var kinds = []string{"Policy", "PolicyTest", "Allowances"}

func run(types, output string, check bool) error {
	known, err := parse(types)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		want, err := known.document(kind)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err := write(filepath.Join(output, fileOf(kind)), want, check); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns the name of the file with the schema of a kind.
func fileOf(kind string) string { return strings.ToLower(kind) + ".schema.json" }

// write writes a schema, or checks that the file has it already.
func write(file string, schema object, check bool) error {
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(schema); err != nil {
		return err
	}
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, want.Bytes()) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is not up to date, make generate writes it", file)
	}
	return os.WriteFile(file, want.Bytes(), 0o600)
}
