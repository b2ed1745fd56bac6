package pattern

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// call calls a builtin with texts.
func call(name string, args ...string) (value.Value, error) {
	values := make([]value.Value, len(args))
	for i, a := range args {
		values[i] = value.OfString(a)
	}
	for _, f := range Functions() {
		if f.Name == name {
			return f.Do(nil, values)
		}
	}
	return nil, nil
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pattern, text string
		want          bool
		err           string
	}{
		"found inside":          {"b+", "abbc", true, ""},
		"not found":             {"^b", "abc", false, ""},
		"the whole":             {"^abc$", "abc", true, ""},
		"an empty pattern":      {"", "abc", true, ""},
		"an empty text":         {"a", "", false, ""},
		"no pattern":            {"(", "abc", false, "missing closing )"},
		"what RE2 lacks":        {`(?=a)`, "abc", false, "invalid or unsupported Perl syntax"},
		"as long as allowed":    {strings.Repeat("a", MaxPattern), "abc", false, ""},
		"too long":              {strings.Repeat("a", MaxPattern+1), "abc", false, "the pattern has 257 bytes, at most 256 are allowed"},
		"a text as long":        {"b", strings.Repeat("a", MaxText), false, ""},
		"a text too long":       {"b", strings.Repeat("a", MaxText+1), false, "the text has 4097 bytes, at most 4096 are searched"},
		"a costly repetition":   {"(a{1,100}){1,100}", "aaa", false, "invalid repeat count"},
		"nested repetitions":    {"(a+)+$", strings.Repeat("a", MaxText) + "", true, ""},
		"many optional atoms":   {strings.Repeat("a?", 128), strings.Repeat("a", MaxText), true, ""},
		"characters, not bytes": {"^.$", "ü", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := call("pattern.search", tc.pattern, tc.text)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil || value.IsTrue(got) != tc.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"": true, "a+": true, "(": false, "[a": false, `(?=a)`: false, "a{2}": true, "a{1001}": false, strings.Repeat("a", 256): true, strings.Repeat("a", 257): false,
	} {
		got, err := call("pattern.valid", pattern)
		if err != nil || value.IsTrue(got) != want {
			t.Errorf("%.20q: %v, %v", pattern, got, err)
		}
	}
}

// TestCosts do not depend on what the pattern says.
func TestCosts(t *testing.T) {
	t.Parallel()
	for _, f := range Functions() {
		if f.Cost == nil || f.Cost(nil) == 0 {
			t.Errorf("%s costs nothing", f.Name)
		}
	}
}
