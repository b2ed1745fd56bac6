package text

import (
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

func TestEnvsubst(t *testing.T) {
	t.Parallel()
	values := value.FromMap(map[string]value.Value{"KERNEL": value.OfString("6.1.0-13"), "X": value.OfString("6")})
	for _, test := range []struct{ text, want string }{
		{"registry/image:$KERNEL", "registry/image:6.1.0-13"},
		{"registry/image:${KERNEL}-x", "registry/image:6.1.0-13-x"},
		{"${X}.$X", "6.6"},
		{"${MISSING:-else}", "else"},
		{"no names", "no names"},
		{"", ""},
		{"$MISSING", "error"},
		{"${KERNEL", "error"},
	} {
		got, err := envsubst(nil, []value.Value{value.OfString(test.text), values})
		text := "error"
		if err == nil {
			text, _ = value.Str(got)
		}
		if text != test.want {
			t.Errorf("%q: want %q, got %q (%v)", test.text, test.want, text, err)
		}
	}
	if _, err := envsubst(nil, []value.Value{value.OfString("x"), value.FromMap(map[string]value.Value{"N": value.OfInt(1)})}); err == nil {
		t.Error("a number as a value is taken")
	}
}
