// Command reference writes docs/reference.md, every field of every document and every
// function of the language, and the table of limits in docs/language.md:
//
//	go run ./hack/reference [-docs docs]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr/cel"
)

func main() {
	docs := flag.String("docs", "docs", "the folder of the documentation, with the JSON schemas")
	flag.Parse()
	if err := run(*docs); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(docs string) error {
	pages, err := generate(docs)
	if err != nil {
		return err
	}
	for path, text := range pages {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of each page that it writes, by its path.
func generate(docs string) (map[string]string, error) {
	text, err := reference(filepath.Join(docs, "schema"))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(docs, "language.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	language, err := limits(string(page))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return map[string]string{filepath.Join(docs, "reference.md"): text, path: language}, nil
}

const head = `# Reference

Every field of every document, and every function of the language. This page is generated from the types and the functions themselves (` + "`go run ./hack/reference`" + `). [The language](language.md) explains them, with its [limits](language.md#limits).

`

// reference returns the page that describes fields and functions.
func reference(schemas string) (string, error) {
	var out strings.Builder
	out.WriteString(head)
	for _, name := range documents {
		text, err := fields(schemas, name)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	env, err := cel.NewEnv(builtins.Functions())
	if err != nil {
		return "", err
	}
	out.WriteString(functions(env))
	return out.String(), nil
}
