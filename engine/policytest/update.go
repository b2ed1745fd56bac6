package policytest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// Update writes what came out in the place of the expectations that were not met, into
// the files of the tests, and returns how many of them it has replaced. What a case does
// not ask for stays out of it. The expectations of a matrix are replaced if its rows agree.
// An error of the engine and a missing object are left to a person; the error names what
// else is.
func (r *Report) Update() (replaced int, err error) {
	byFile := map[string][]*Case{}
	for i := range r.Cases {
		c := &r.Cases[i]
		byFile[c.File] = append(byFile[c.File], c)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		n, wrong := update(file, byFile[file])
		replaced, err = replaced+n, errors.Join(err, wrong)
	}
	return replaced, err
}

// update writes what came out of the cases of a file.
func update(file string, cases []*Case) (int, error) {
	if !slices.ContainsFunc(cases, (*Case).differs) {
		return 0, nil
	}
	if cases[0].embedded {
		return 0, fmt.Errorf("%s: the tests in the manifest of a ConfigMap are not updated: write what came out into them by hand", file)
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return 0, err
	}
	list, left := replacements(file, text, cases)
	if len(list) == 0 {
		return 0, left
	}
	if text, err = replaceAll(file, text, list); err != nil {
		return 0, errors.Join(left, err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // tests are for everyone to read
		return 0, errors.Join(left, err)
	}
	return len(list), left
}

// replacements returns what is to be replaced in a file; the error names what is not.
func replacements(file string, text []byte, cases []*Case) (out []replacement, err error) {
	var problems document.Problems
	matrices := matricesOf(document.ParseUnbounded(file, text, &problems))
	for _, c := range cases {
		if slices.ContainsFunc(matrices, func(m *matrix) bool { return m.take(c) }) {
			continue
		}
		for _, o := range c.outcomes {
			if !o.met {
				out = append(out, o.replacement)
			}
		}
	}
	for _, m := range matrices {
		list, wrong := m.replacements()
		out, err = append(out, list...), errors.Join(err, wrong)
	}
	return out, err
}

// differs reports whether an expectation was not met that can be replaced.
func (c *Case) differs() bool {
	return slices.ContainsFunc(c.outcomes, func(o outcome) bool { return !o.met })
}

// differs notes what a list or mapping should be to hold. What tests that are not updated
// should be is not kept: it may be large.
func (c *caseRun) differs(at document.Position, old, is any) {
	if c.runner.embedded != nil {
		old, is = nil, nil
	}
	c.outcomes = append(c.outcomes, outcome{replacement: replacement{At: at, Old: old, New: is}})
}

// holds notes a list or mapping that holds: other rows of a matrix may want another one.
func (c *caseRun) holds(at document.Position, old any) {
	if c.runner.embedded != nil {
		return
	}
	c.outcomes = append(c.outcomes, outcome{replacement: replacement{At: at, Old: old, New: old}, met: true})
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

// from is where in a policy an error came from: it moves with every edit.
var from = regexp.MustCompile(`^.*\.(yaml|yml|json|rego):\d+:\d+: `)

// errorsOf returns the texts of errors: those that a test names as it names them.
func errorsOf(want []any, got []string) []any {
	out := make([]any, len(got))
	for i, g := range got {
		if out[i] = from.ReplaceAllString(g, ""); i < len(want) {
			if text, ok := want[i].(string); ok && strings.Contains(g, text) {
				out[i] = text
			}
		}
	}
	return out
}
