package properties

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/record"
)

// checkSelections checks that the candidates of each selection were excluded by the
// steps as often as its message counts, and that what is written about it ends with
// that message. It returns how many steps excluded something.
func checkSelections(t *testing.T, doc *record.Document) (steps int) {
	t.Helper()
	var summaries []string
	for i := range doc.Selections {
		s := &doc.Selections[i]
		listed := map[string]int{}
		for j := range s.Candidates {
			if step := s.Candidates[j].DroppedBy; step != "" {
				listed[step]++
			}
		}
		if d := cmp.Diff(listed, excluded(s.Summary)); d != "" || s.Total != len(s.Candidates) {
			t.Errorf("%s %s: %d of %d candidates are listed (-listed +counted in %q):\n%s", doc.Policy, doc.Key, len(s.Candidates), s.Total, s.Summary, d)
		}
		summaries = append(summaries, s.Summary)
		steps += len(listed)
	}
	for i := range doc.Effects {
		for _, message := range messages(t, doc.Effects[i].Patch) {
			if !slices.ContainsFunc(summaries, func(s string) bool { return strings.HasSuffix(message, s) }) {
				t.Errorf("%s %s writes %q, its selections say %q", doc.Policy, doc.Key, message, summaries)
			}
		}
	}
	return steps
}

var exclusion = regexp.MustCompile(`; ([0-9]+) excluded: `)

// excluded returns the counts of a message, by step.
func excluded(message string) map[string]int {
	out := map[string]int{}
	all := exclusion.FindAllStringSubmatchIndex(message, -1)
	for i, at := range all {
		end := len(message)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		n, err := strconv.Atoi(message[at[2]:at[3]])
		if err != nil {
			n = -1
		}
		out[message[at[1]:end]] += n
	}
	return out
}

// messages returns the texts of a patch that count excluded candidates.
func messages(t *testing.T, patch any) (out []string) {
	t.Helper()
	text, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, field := range v {
				walk(field)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case string:
			if exclusion.MatchString(v) {
				out = append(out, v)
			}
		}
	}
	walk(plain)
	return out
}
