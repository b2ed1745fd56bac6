package main

import (
	"errors"
	"strings"
	"testing"
)

// TestCompare: the list has every place with findings, and no other.
func TestCompare(t *testing.T) {
	t.Parallel()
	found := map[string]error{"engine/a": errors.New("engine/a/a.go:1: bad"), "README.md": errors.New("README.md:2: bad")}
	for name, tc := range map[string]struct {
		listed []string
		want   string
	}{
		"as found":    {[]string{"README.md", "engine/a"}, ""},
		"one less":    {[]string{"README.md"}, "engine/a/a.go:1: bad"},
		"one more":    {[]string{"README.md", "engine/a", "engine/b"}, "engine/b has no findings any more: remove it from hack/vale/unclean.txt"},
		"a page":      {[]string{"engine/a"}, "README.md:2: bad"},
		"none at all": {nil, "engine/a/a.go:1: bad"},
	} {
		err := compare(found, tc.listed)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestPlaces: a package counts as one place, a page as itself.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"engine/a/a.go": "engine/a", "docs/a.md": "docs/a.md"} {
		if got := placeOf(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
