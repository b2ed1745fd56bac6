package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
)

// FuzzPolicy compiles texts that come from the shipped policies, the examples
// and those that have led to a panic: no text does.
func FuzzPolicy(f *testing.F) {
	for _, pattern := range []string{"../../policies/*.yaml", "../../examples/*/policy.yaml", "../../test/properties/testdata/*.yaml", "../../policy-tests/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no files %s (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, rule := range []string{
		`when: key.name.matches("a{2}")`,
		`when: key.name.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")`,
		`debounce: {key: k, window: 1s, allowed: [{days: ["\u212a"], from: "00:00", to: "24:00"}]}`,
		`debounce: {key: k, window: 1s, allowed: [{days: ["İİ"], from: "02:00", to: "24:00"}]}`,
	} {
		f.Add([]byte(header + "  rules:\n    - name: r\n      " + rule + "\n      do: [{labels: {set: {a: b}}}]\n"))
	}
	compiler, err := New(Options{Schemas: schema.Builtin(), Functions: builtins.Functions(), Queries: builtins.Queries()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, _ := load.Documents("f.yaml", text)
		for _, p := range file.Policies {
			if _, problems := compiler.Policy(p, PolicyOptions{}); len(problems) > 0 {
				for _, problem := range problems {
					if strings.Contains(problem.Message, "panic") {
						t.Errorf("%s", problem.Message)
					}
				}
			}
		}
	})
}
