package main

import (
	"encoding/json"
	"strings"
	"testing"

	docschema "github.com/edict-dev/edict/docs/schema"
)

// TestSchema prints each schema, what they are called, and their modelines.
func TestSchema(t *testing.T) {
	t.Parallel()
	list, err := execute(t, "schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"policy", "policytest", "allowances", "answers", "timeline"} {
		text, err := execute(t, "schema", name)
		if err != nil || !json.Valid([]byte(text)) {
			t.Errorf("%s: %v", name, err)
		}
		if line, err := execute(t, "schema", name, "--modeline"); err != nil || line != docschema.Modeline(name)+"\n" {
			t.Errorf("%s: %q, %v", name, line, err)
		}
		if !strings.Contains(list, docschema.Base+name+".schema.json\n") {
			t.Errorf("%s is not listed:\n%s", name, list)
		}
	}
	if got := program(t, "schema", "polcy"); got.code != exitUsage || !strings.Contains(got.stderr, `did you mean "policy"?`) {
		t.Errorf("%+v", got)
	}
}
