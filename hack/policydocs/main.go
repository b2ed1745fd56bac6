// Command policydocs writes a page about each shipped policy: what it decides, reads
// and writes, every param, and the differences from what it replaces.
//
//	go run ./hack/policydocs [-policies policies] [-o docs/policies]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

func main() {
	policies := flag.String("policies", "policies", "the folder of policies")
	output := flag.String("o", "docs/policies", "the folder to write to")
	differences := flag.String("differences", "hack/policydocs/differences", "the folder with the differences, by policy")
	flag.Parse()
	if err := run(*policies, *differences, *output); err != nil {
		fmt.Fprintln(os.Stderr, "policydocs:", err)
		os.Exit(1)
	}
}

func run(policies, differences, output string) error {
	pages, err := pagesOf(policies, differences)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(output, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// pagesOf returns the pages by their file names.
func pagesOf(policies, differences string) (map[string]string, error) {
	bundle, err := source.Load([]string{policies}, source.Options{})
	if err != nil {
		return nil, err
	}
	if err := bundle.Err(); err != nil {
		return nil, err
	}
	out := map[string]string{}
	var list []*plan.Policy
	for _, u := range bundle.Units {
		p := bundle.Policy(u)
		text, err := os.ReadFile(filepath.Join(differences, p.Name+".md"))
		if err != nil {
			return nil, err
		}
		out[p.Name+".md"] = page(p, string(u.File.Text), string(text))
		list = append(list, p)
	}
	out["README.md"] = index(list)
	return out, nil
}
