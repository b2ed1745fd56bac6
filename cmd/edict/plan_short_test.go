package main

import (
	"strings"
	"testing"
)

// TestShortValues: of long values the part is shown that differs.
func TestShortValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for name, tc := range map[string]struct {
		a, b          any
		before, after string
	}{
		"short":          {"a", nil, `"a"`, "-"},
		"none":           {nil, nil, "-", "-"},
		"long at first":  {"a" + long, "b", `"a` + long[:maxShown-2] + "...", `"b"`},
		"long, then not": {long + "old", long + "new", `...` + long[:shownBefore] + `old"`, `...` + long[:shownBefore] + `new"`},
		"one goes on":    {long, long + long, `...` + long[:shownBefore] + `"`, `...` + long[:maxShown-3] + "..."},
	} {
		if before, after := shortValues(tc.a, tc.b); before != tc.before || after != tc.after {
			t.Errorf("%s: %s -> %s", name, before, after)
		}
	}
}
