package base64

import (
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

func TestBase64(t *testing.T) {
	t.Parallel()
	fs := Functions()
	for text, encoded := range map[string]string{"": "", "a": "YQ==", "grün": "Z3LDvG4="} {
		if out, err := fs[0].Do(nil, []value.Value{value.OfString(text)}); err != nil || out != value.OfString(encoded) {
			t.Errorf("encode(%q) = %v, %v", text, out, err)
		}
		if out, err := fs[1].Do(nil, []value.Value{value.OfString(encoded)}); err != nil || out != value.OfString(text) {
			t.Errorf("decode(%q) = %v, %v", encoded, out, err)
		}
	}
	if out, err := fs[1].Do(nil, []value.Value{value.OfString("Z3LDvG4")}); err != nil || out != value.OfString("grün") {
		t.Errorf("decode without padding: %v, %v", out, err)
	}
	for _, wrong := range []string{"?", "Y", "YQ=", "/w=="} {
		if out, err := fs[1].Do(nil, []value.Value{value.OfString(wrong)}); err == nil {
			t.Errorf("decode(%q) = %v, want an error", wrong, out)
		}
	}
}
