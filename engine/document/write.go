package document

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// YAML returns a value as YAML, by way of JSON as Kubernetes does. Characters that no
// YAML text may contain are escaped.
func YAML(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML([]byte(withEscapes(string(text))))
}

// withEscapes returns a JSON text with escapes for what is valid in JSON and not in YAML: it
// can stand in strings only.
func withEscapes(text string) string {
	if !strings.ContainsFunc(text, isUnwritable) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if isUnwritable(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isUnwritable(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
