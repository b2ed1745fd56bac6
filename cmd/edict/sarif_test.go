package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// sarifSchema is the JSON schema of SARIF 2.1.0 (rtm.5), as published by OASIS.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("testdata/sarif/schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// checkLog reports what is wrong with a log, also what the schema cannot say.
func checkLog(schema *jsonschema.Schema, text string) error {
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	if err := schema.Validate(raw); err != nil {
		return err
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil || len(log.Runs) != 1 {
		return fmt.Errorf("%d runs, %w", len(log.Runs), err)
	}
	rules, used := log.Runs[0].Tool.Driver.Rules, map[int]bool{}
	for _, r := range log.Runs[0].Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
			return fmt.Errorf("the rule %d is not %s", r.RuleIndex, r.RuleID)
		}
		used[r.RuleIndex] = true
		for _, l := range r.Locations {
			if _, err := url.Parse(l.PhysicalLocation.ArtifactLocation.URI); err != nil || strings.ContainsAny(l.PhysicalLocation.ArtifactLocation.URI, " \\\"<>") {
				return fmt.Errorf("%q is no URI, %w", l.PhysicalLocation.ArtifactLocation.URI, err)
			}
		}
	}
	if len(used) != len(rules) {
		return fmt.Errorf("of %d rules, %d are used", len(rules), len(used))
	}
	return nil
}

// TestSARIFIsValid: the log of all kinds of findings is what SARIF 2.1.0 says.
func TestSARIFIsValid(t *testing.T) {
	t.Parallel()
	schema, levels := sarifSchema(t), map[string]bool{}
	paths := append(checked(t), checkPages(t)...)
	for _, path := range paths {
		out, _ := execute(t, "check", "-o", "sarif", path) // a finding is an error of the command
		if err := checkLog(schema, out); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
		for _, level := range []string{"error", "warning", "note"} {
			levels[level] = levels[level] || strings.Contains(out, `"level": "`+level+`"`)
		}
	}
	if len(paths) < 40 || !levels["error"] || !levels["warning"] || !levels["note"] {
		t.Errorf("%d files, with findings of %v", len(paths), levels)
	}
	for name, text := range map[string]string{
		"no version":    `{"runs": []}`,
		"another level": strings.Replace(sarifOf(t, document.Problem{Severity: document.Error, Message: "m"}), `"error"`, `"fatal"`, 1),
		"another field": strings.Replace(sarifOf(t), `"runs"`, `"x": 1, "runs"`, 1),
		"no rule":       strings.Replace(sarifOf(t, document.Problem{Severity: document.Error, Message: "m"}), `"ruleIndex": 0`, `"ruleIndex": 1`, 1),
	} {
		if checkLog(schema, text) == nil {
			t.Errorf("%s is accepted:\n%s", name, text)
		}
	}
}

// checkPages writes the examples of docs/checks, which have a finding of each code.
func checkPages(t *testing.T) (out []string) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/checks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, example, _ := strings.Cut(string(text), "## Example\n")
		_, example, _ = strings.Cut(example, "```yaml\n")
		example, _, _ = strings.Cut(example, "```")
		if example != "" {
			out = append(out, write(t, folder, strings.TrimSuffix(filepath.Base(page), ".md")+".yaml", example))
		}
	}
	return out
}

func sarifOf(t *testing.T, list ...document.Problem) string {
	t.Helper()
	var out strings.Builder
	if err := checkSARIF(&out, &source.Bundle{}, list); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestSARIFPlaces: files are URIs, whatever they are called; a finding about no file has
// no place, and one about a whole file no region.
func TestSARIFPlaces(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	for at, want := range map[document.Position]string{
		{File: "policies/a.yaml", Line: 3, Column: 2}: `[{"physicalLocation":{"artifactLocation":{"uri":"policies/a.yaml"},"region":{"startColumn":2,"startLine":3}}}]`,
		{File: "policies/a.yaml", Line: 3}:            `[{"physicalLocation":{"artifactLocation":{"uri":"policies/a.yaml"},"region":{"startLine":3}}}]`,
		{File: "a b/50%#1?é[.yaml"}:                   `[{"physicalLocation":{"artifactLocation":{"uri":"a%20b/50%25%231%3F%C3%A9%5B.yaml"}}}]`,
		{File: "a:b.yaml"}:                            `[{"physicalLocation":{"artifactLocation":{"uri":"./a:b.yaml"}}}]`,
		{File: "/srv/a.yaml"}:                         `[{"physicalLocation":{"artifactLocation":{"uri":"file:///srv/a.yaml"}}}]`,
		{}:                                            `[]`,
	} {
		got, err := json.Marshal(places(at))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v: %v\n%s", at, err, diff)
		}
		if err := checkLog(schema, sarifOf(t, document.Problem{Position: at, Severity: document.Warning, Code: document.UnusedParam, Message: "m", Hint: "h"})); err != nil {
			t.Errorf("%v: %v", at, err)
		}
	}
	for code := range document.Severities {
		if _, err := url.ParseRequestURI(check.Page(code)); err != nil {
			t.Error(err)
		}
	}
}
