package document_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/document"
)

// TestYAML: every character that a text may have comes back, alone and among others.
func TestYAML(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= 0x1ffff; r++ {
		if r > 0x300 && r < 0x2000 || r > 0x2100 && r < 0xfe00 || r > 0x10100 {
			continue // surrogates, and characters like many others
		}
		for _, s := range []string{string(r), "a" + string(r) + "b", "a\n" + string(r) + "\n: x"} {
			text, err := document.YAML(map[string]any{"k": s})
			if err != nil {
				t.Fatalf("%U: %v", r, err)
			}
			var got map[string]any
			if err := yaml.Unmarshal(text, &got); err != nil || !cmp.Equal(got, map[string]any{"k": s}) {
				t.Fatalf("%U: %q came back as %q: %v", r, s, got["k"], err)
			}
		}
	}
}
