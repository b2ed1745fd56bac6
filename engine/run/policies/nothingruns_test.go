package policies

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestNothingRuns: a last good revision that is no longer valid, as after an upgrade, does
// not run, and the status says so as long as nothing else does.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	ran := fixture.Labelling("${nobody}")
	for name, tc := range map[string]struct {
		now  *source.ConfigMap
		want string // "" is nothing
	}{
		"the same text":        {fixture.Labelling("${nobody}"), "p: nothing of it runs: this text was in force, and is no longer valid"},
		"another wrong text":   {fixture.Labelling("${no}"), `is no longer valid: ns/m/p.yaml:9:34: undefined name "nobody"`},
		"text that is no YAML": {fixture.ConfigMap("m", "", map[string]string{"p.yaml": "rules: ["}), `is no longer valid: ns/m/p.yaml:9:34: undefined name "nobody"`},
		"a right text":         {fixture.Labelling("a"), ""},
		"it is gone":           {fixture.ConfigMap("m", "", map[string]string{}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t)
			was := source.NewCatalog([]*source.Contents{ran.Read()}, nil, nil).Units["p"]
			m.history.entries["p"] = []*history.Entry{{Copy: history.CopyOf(was), Result: history.Active}}
			m.see(nil, tc.now)
			r := &reporter{policies: m.policies, known: m.assigner.known, place: m.history.place, nothing: m.history.nothingRuns}
			contents := tc.now.Read()
			got := r.stranded(source.NewCatalog([]*source.Contents{contents}, nil, nil), contents)
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0].Message, tc.want)) {
				t.Errorf("want %q, got %+v", tc.want, got)
			}
		})
	}
}
