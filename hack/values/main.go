// Command values writes into the chart's values.schema.json what the params of
// the shipped policies may be, so that helm refuses what the webhook would,
// before anything is sent:
//
//	go run ./hack/values [-check] [-policies charts/edict/files/policies] [-o charts/edict/values.schema.json]
//
// It owns the last field of that file, allOf; the rest is written by hand. With
// -check it writes nothing and fails when the file is not as it would be.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

func main() {
	policies := flag.String("policies", "charts/edict/files/policies", "the folder of policies")
	output := flag.String("o", "charts/edict/values.schema.json", "the file to write into")
	check := flag.Bool("check", false, "write nothing, say whether it differs")
	flag.Parse()
	if err := run(*policies, *output, *check); err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
}

func run(policies, output string, check bool) error {
	have, err := os.ReadFile(output)
	if err != nil {
		return err
	}
	conditions, err := conditions(policies)
	if err != nil {
		return err
	}
	want, err := spliced(have, conditions)
	if err != nil {
		return fmt.Errorf("%s: %w", output, err)
	}
	switch {
	case bytes.Equal(have, want):
		return nil
	case check:
		return fmt.Errorf("%s is not up to date, make generate writes it", output)
	}
	return os.WriteFile(output, want, 0o600)
}

// object is a JSON schema, or a part of one.
type object = map[string]any

// conditions returns for every file of policies what holds of the values for its
// params, as long as the text is the shipped one.
func conditions(folder string) (out []object, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		bundle, err := source.Load([]string{path}, source.Options{})
		if err != nil {
			return nil, err
		}
		if err := bundle.Err(); err != nil {
			return nil, err
		}
		if len(bundle.Policies) == 0 {
			continue // such as the allowances
		}
		out = append(out, condition(strings.TrimSuffix(filepath.Base(path), ".yaml"), bundle.Policies))
	}
	return out, nil
}

func condition(file string, policies []*plan.Policy) object {
	values := object{}
	for _, p := range policies {
		params := object{}
		for _, info := range p.ParamInfo {
			params[info.Name] = param(info)
		}
		values[p.Name] = object{"properties": params}
	}
	return object{
		"if":   within("policies", within(file, within("text", object{"const": ""}))),
		"then": within("params", object{"properties": values}),
	}
}

// within is the schema of an object with one field.
func within(field string, schema object) object {
	return object{"properties": object{field: schema}}
}

const marker = ",\n  \"allOf\": ["

// spliced returns the text of a schema with other conditions.
func spliced(text []byte, conditions []object) ([]byte, error) {
	head, _, found := strings.Cut(string(text), marker)
	if !found {
		head, found = strings.CutSuffix(strings.TrimSpace(string(text)), "\n}")
	}
	if !found {
		return nil, errors.New("it does not end with a line }")
	}
	var list bytes.Buffer
	encoder := json.NewEncoder(&list)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("  ", "  ")
	if err := encoder.Encode(conditions); err != nil {
		return nil, err
	}
	return []byte(head + ",\n  \"allOf\": " + strings.TrimSpace(list.String()) + "\n}\n"), nil
}
