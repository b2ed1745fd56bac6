package pattern

import (
	"regexp/syntax"
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

// TestCosts: a search costs what its pattern and its text come to together, and
// the size of a program is never taken for smaller than it is.
func TestCosts(t *testing.T) {
	t.Parallel()
	for pattern, atLeast := range map[string]uint64{
		"a": 100, "(a{100}){10}": 1000 * 4096 / 10, "(" + strings.Repeat("a?", 112) + "){1000}b": 1_000_000,
		"(?i)(" + strings.Repeat(`[\pL\pN]`, 20) + "){100}b": 2000 * 4096 / 10,
	} {
		need := searching([]value.Value{value.OfString(pattern), value.OfString(strings.Repeat("a", MaxText))})
		if need.Work < atLeast {
			t.Errorf("%.20q costs %d, less than %d", pattern, need.Work, atLeast)
		}
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := syntax.Compile(parsed.Simplify())
		if size := program(value.OfString(pattern)); err != nil || size < len(compiled.Inst) {
			t.Errorf("%.20q has %d instructions (%v), taken for %d", pattern, len(compiled.Inst), err, size)
		}
	}
}

// TestLargeProgram: a pattern that repeats too often is none.
func TestLargeProgram(t *testing.T) {
	t.Parallel()
	pattern := "(" + strings.Repeat("a?", 112) + "){1000}b"
	if got, err := call("pattern.valid", pattern); err != nil || value.IsTrue(got) {
		t.Errorf("valid: %v, %v", got, err)
	}
	if _, err := call("pattern.search", pattern, "a"); err == nil || !strings.Contains(err.Error(), "instructions, at most 10000 are allowed") {
		t.Errorf("search: %v", err)
	}
}
