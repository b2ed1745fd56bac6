package pattern

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

func do(name string, args ...string) (value.Value, error) {
	var list []value.Value
	for _, a := range args {
		list = append(list, value.OfString(a))
	}
	for _, f := range Functions() {
		if f.Name == name {
			return f.Do(nil, list)
		}
	}
	panic(name)
}

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, pattern string
		want          value.Value
	}{
		{"nginx:1.27", `:([^:@]+)$`, value.Some(value.OfString("1.27"))},
		{"nginx:1.27", `[0-9.]+`, value.Some(value.OfString("1.27"))},
		{"nginx", `:([^:@]+)$`, value.None},
		{"ab", `a(x)?b`, value.Some(value.OfString(""))},
	} {
		got, err := do("regex.extract", tc.text, tc.pattern)
		if err != nil || got != tc.want && !value.IsTrue(got.Equal(tc.want)) {
			t.Errorf("%q in %q: %v, %v; want %v", tc.pattern, tc.text, got, err, tc.want)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, pattern, with, want string }{
		{"docker.io/library/nginx", `^docker.io/`, "mirror.example.com/", "mirror.example.com/library/nginx"},
		{"a-b-c", `-(.)`, "+$1", "a+b+c"},
		{"a-b-c", `-(.)`, "+${1}1", "a+b1+c1"},
		{"v45", `v(?P<n>\d+)`, "${n}_new costs $$5", "45_new costs $5"},
		{"abc", `x`, "y", "abc"},
		{"abc", ``, "-", "-a-b-c-"},
	} {
		got, err := do("regex.replace", tc.text, tc.pattern, tc.with)
		if err != nil || got != value.OfString(tc.want) {
			t.Errorf("%q with %q: %v, %v; want %q", tc.text, tc.pattern, got, err, tc.want)
		}
	}
}

func TestRegexErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"regex.extract", []string{"a", "("}, "missing closing"},
		{"regex.extract", []string{strings.Repeat("a", MaxText+1), "a"}, "are searched"},
		{"regex.replace", []string{"a", "a", strings.Repeat("a", MaxText+1)}, "the replacement has"},
		{"regex.replace", []string{"v45", `v(\d+)`, "$1_new"}, `the replacement names the group "1_new", and the pattern has no such group; write ${1}`},
		{"regex.replace", []string{"v45", `v(\d+)`, "$10"}, `the group "10"`},
		{"regex.replace", []string{"x", "a", "$5"}, `the group "5"`},
		{"regex.replace", []string{strings.Repeat("a", MaxText), "a", strings.Repeat("b", 100)}, "the result has more than"},
	} {
		if got, err := do(tc.name, tc.args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want %q", tc.name, got, err, tc.want)
		}
	}
}
