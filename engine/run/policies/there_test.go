package policies

import (
	"testing"

	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestThere: a policy is there in whatever mode, and while its file cannot be read; it is
// not once its file, or its ConfigMap, is gone.
func TestThere(t *testing.T) {
	t.Parallel()
	disabled := fixture.Labelling("a")
	disabled.Mode = "Disabled"
	for name, tc := range map[string]struct {
		now  []*source.ConfigMap
		want bool
	}{
		"the same text":   {[]*source.ConfigMap{fixture.Labelling("a")}, true},
		"a refused text":  {[]*source.ConfigMap{fixture.Labelling("${nobody}")}, true},
		"disabled":        {[]*source.ConfigMap{disabled}, true},
		"no YAML":         {[]*source.ConfigMap{fixture.ConfigMap("m", "", map[string]string{"p.yaml": "rules: ["})}, true},
		"without the key": {[]*source.ConfigMap{fixture.ConfigMap("m", "", map[string]string{})}, false},
		"deleted":         {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t)
			m.see(nil, fixture.Labelling("a"))
			m.see(nil, tc.now...)
			var contents []*source.Contents
			for _, one := range tc.now {
				contents = append(contents, one.Read())
			}
			if got := m.assigner.there("p", source.NewCatalog(contents, nil, nil)); got != tc.want {
				t.Errorf("there: %v, want %v", got, tc.want)
			}
		})
	}
}
