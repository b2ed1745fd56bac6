package document

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// YAML returns a value as YAML, by way of JSON as Kubernetes does. Characters that no
// YAML text may contain are escaped.
func YAML(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(withEscapes(text))
}

// withEscapes returns a JSON text with escapes for what is valid in JSON and not in YAML: it
// can stand in strings only. At most one more text of the size of the result is made.
func withEscapes(text []byte) []byte {
	size := len(text)
	for _, r := range string(text) {
		if isUnwritable(r) {
			size += len(`\u0000`)
		}
	}
	if size == len(text) {
		return text
	}
	out := make([]byte, 0, size)
	for _, r := range string(text) {
		if isUnwritable(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func isUnwritable(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
