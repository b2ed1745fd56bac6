package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// taking are policies of ConfigMaps: what follows kind in for, and the rules.
func taking(policies ...string) string {
	var out strings.Builder
	for i, p := range policies {
		primary, rules, _ := strings.Cut(p, "|")
		out.WriteString("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + string(rune('a'+i)) + "}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap" + primary + "}\n  rules:\n")
		for rule := range strings.SplitSeq(rules, "|") {
			out.WriteString("    - " + rule + "\n")
		}
		out.WriteString("---\n")
	}
	return out.String()
}

// TestTurns: what the finding says agrees with what a simulation comes to.
func TestTurns(t *testing.T) {
	t.Parallel()
	const toOne, toTwo = `{name: r, do: [{labels: {set: {x: "1"}}}]}`, `{name: r, do: [{labels: {set: {x: "2"}}}]}`
	asks := func(x, name, to string) string {
		return `{name: ` + name + `, when: 'object.metadata.?labels[?"x"].orValue("") == "` + x + `"', do: [{labels: {set: {x: "` + to + `"}}}]}`
	}
	rows := `{name: r, cases: [{when: 'object.metadata.labels.x == "1"', do: [{labels: {set: {x: "2"}}}]}, {when: 'object.metadata.labels.x in ["2", "3"]', do: [{labels: {set: {x: "1"}}}]}]}`
	for name, tc := range map[string]struct {
		policies []string
		loops    bool
	}{
		"selectors":                  {[]string{", selector: x=1|" + toTwo, ", selector: x=2|" + toOne}, true},
		"three selectors":            {[]string{", selector: x=1|" + toTwo, ", selector: x=2|" + strings.Replace(toOne, "1", "3", 1), ", selector: x=3|" + toOne}, true},
		"a selector and a condition": {[]string{", selector: x!=2|" + toTwo, "|" + asks("2", "r", "1")}, true},
		"rows":                       {[]string{"|" + rows}, true},
		"rules against the order":    {[]string{"|" + asks("3", "r", "1") + "|" + asks("2", "s", "3") + "|" + asks("1", "t", "2")}, true},
		"rules in the order":         {[]string{"|" + asks("1", "r", "2") + "|" + asks("2", "s", "1")}, false},
		"states that end":            {[]string{"|" + asks("1", "r", "2") + "|" + asks("2", "s", "3")}, false},
		"other namespaces":           {[]string{", selector: x=1, namespaces: [n]|" + toTwo, ", selector: x=2, namespaces: [o]|" + toOne}, false},
		"other labels":               {[]string{`, selector: "x=1,y=1"|` + toTwo, `, selector: "x=2,y=2"|` + toOne}, false},
		"another condition":          {[]string{", selector: x=1|" + strings.Replace(toTwo, "do:", "when: size(object.data) > 3, do:", 1), ", selector: x=2|" + toOne}, false},
		"in the shadow":              {[]string{"}\n  mode: Shadow\n  params: {a: b|" + rows}, false},
		"out of the selector":        {[]string{", selector: x=1|" + toTwo}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := taking(tc.policies...)
			b := fixture.Compiled(t, text)
			found := slices.ContainsFunc(check.Findings(b), func(p document.Problem) bool {
				return p.Code == document.FeedbackLoop && strings.Contains(p.Message, "is set in turns by") || p.Code == document.ConflictingWriters
			})
			if rests := settles(t, text); found != tc.loops || rests == tc.loops {
				t.Errorf("found: %v, comes to rest: %v, want a loop: %v", found, rests, tc.loops)
			}
		})
	}
}

// settles reports whether ConfigMaps come to rest with each value of the label.
func settles(t *testing.T, text string) bool {
	t.Helper()
	var manifests []string
	for _, labels := range []string{`x: "1"`, `x: "2"`, `x: "3", y: "1"`, `x: "1", y: "2"`} {
		manifests = append(manifests, "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: n, name: m"+string(rune('a'+len(manifests)))+", labels: {"+labels+"}}, data: {}}")
	}
	sim := settled(t, fixture.Compiled(t, text), manifests)
	return sim.Ended() == ""
}

// settled returns a simulation of objects that has come to rest, or has ended because of
// what was written: far more than policies that do come to rest write.
func settled(t *testing.T, b *source.Bundle, manifests []string) *simulate.Simulation {
	t.Helper()
	sim := simulate.New(t.Context(), simulate.Options{
		Policies: b.Policies, Schemas: b.Schemas, Objects: fixture.Objects(t, manifests...), Guard: guard.New(b.Allowances).Assuming(), Start: fixture.Start, MaxKept: 256 << 10,
	})
	sim.Settle(t.Context())
	return sim
}
