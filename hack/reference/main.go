// Command reference writes docs/reference.md: every field of every document, and every
// function of the language.
//
//	go run ./hack/reference [-schemas docs/schema] [-o docs/reference.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr/cel"
)

func main() {
	schemas := flag.String("schemas", "docs/schema", "the folder of the JSON schemas")
	output := flag.String("o", "docs/reference.md", "the file to write")
	flag.Parse()
	if err := run(*schemas, *output); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(schemas, output string) error {
	text, err := page(schemas)
	if err != nil {
		return err
	}
	return os.WriteFile(output, []byte(text), 0o600)
}

const head = `# Reference

Every field of every document, and every function of the language. This page is generated from the types and the functions themselves (` + "`go run ./hack/reference`" + `). [The language](language.md) explains them, with its [limits](language.md#limits).

`

// page returns the page.
func page(schemas string) (string, error) {
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
