package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docschema "github.com/edict-dev/edict/docs/schema"
	"github.com/edict-dev/edict/engine/load"
)

// TestModelines: every document that is shipped names its schema in its first line.
func TestModelines(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, folder := range []string{"../../policies", "../../policy-tests", "../../examples", "../../charts/edict/files/policies"} {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" || filepath.Base(filepath.Dir(file)) == load.SchemaFolder {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name := ""
			for _, doc := range documents(t, text) {
				kind, _ := doc["kind"].(string)
				name = docschema.Of(kind)
				break
			}
			if strings.HasSuffix(file, "-timeline.yaml") {
				name = "timeline"
			}
			if name == "" {
				return nil
			}
			seen++
			if first, _, _ := strings.Cut(string(text), "\n"); first != docschema.Modeline(name) {
				t.Errorf("%s does not begin with %q", file, docschema.Modeline(name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("%d documents were found", seen)
	}
}
