package policytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/format"
)

// Update writes what came out in the place of the expectations that were not met, into
// the files of the tests, and returns how many of them it has replaced. What a case does
// not ask for stays out of it. An error of the engine, a missing object and a case of a
// matrix are left to a person.
func (r *Report) Update() (replaced int, err error) {
	byFile := map[string][]format.Replacement{}
	for _, c := range r.Cases {
		byFile[c.File] = append(byFile[c.File], c.updates...)
	}
	for file, list := range byFile {
		if len(list) == 0 {
			continue
		}
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return replaced, err
		}
		if text, err = format.Replace(file, text, list); err != nil {
			return replaced, err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // tests are for everyone to read
			return replaced, err
		}
		replaced += len(list)
	}
	return replaced, nil
}

// differs notes what a list or mapping should be to hold.
func (c *caseRun) differs(at document.Position, old, is any) {
	c.updates = append(c.updates, format.Replacement{At: at, Old: old, New: is})
}

// wantedOf returns a list as a test would ask for it: each item as far as the
// expectation that it meets best asks for, a new one whole.
func wantedOf(want, got []any) []any {
	out := make([]any, 0, len(got))
	left := slices.Clone(want)
	for i, g := range got {
		at := slices.IndexFunc(left, func(w any) bool { return meets(w, g) })
		if at < 0 && len(want) == len(got) {
			at = slices.IndexFunc(left, func(w any) bool { return sameItem(w, want[i]) })
		}
		if at < 0 {
			at = slices.IndexFunc(left, func(w any) bool { return names(w, g) })
		}
		if at < 0 {
			out = append(out, whole(g))
			continue
		}
		out = append(out, asWritten(left[at], shape(left[at], g)))
		left = slices.Delete(left, at, at+1)
	}
	return out
}

func meets(want, got any) bool { return sameItem(want, shape(want, got)) }

func sameItem(a, b any) bool { return equal(normal(a), normal(b)) }

// names reports whether an item asks for what another one is, whatever else it asks.
func names(want, got any) bool {
	w, isMap := want.(map[string]any)
	g, _ := got.(map[string]any)
	for _, k := range []string{"policy", "rule", "verb", "subresource", "target", "builtin"} {
		if w[k] != nil && !meets(w[k], g[k]) {
			return false
		}
	}
	return isMap
}

// asWritten returns what came out, and what was written where that is the same.
func asWritten(want, got any) any {
	if sameItem(want, got) {
		return want
	}
	w, isMap := want.(map[string]any)
	g, both := got.(map[string]any)
	if !isMap || !both {
		return got
	}
	out := map[string]any{}
	for k, v := range g {
		out[k] = asWritten(w[k], v)
	}
	return out
}

// whole returns an item without what says nothing, and without its time and key.
func whole(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, v := range m {
		if text, is := v.(string); v == nil || is && text == "" || slices.Contains([]string{"at", "key", "response"}, k) {
			continue
		}
		out[k] = v
	}
	if target, ok := out["target"]; ok {
		out["target"] = whole(target)
	}
	return out
}

// place is where in a policy an error came from: it moves with every edit.
var place = regexp.MustCompile(`^.*\.(yaml|yml|json|rego):\d+:\d+: `)

// errorsOf returns the texts of errors: those that a test names as it names them.
func errorsOf(want []any, got []string) []any {
	out := make([]any, len(got))
	for i, g := range got {
		if out[i] = place.ReplaceAllString(g, ""); i < len(want) {
			if text, ok := want[i].(string); ok && strings.Contains(g, text) {
				out[i] = text
			}
		}
	}
	return out
}
