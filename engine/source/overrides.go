package source

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
)

// Values is what a ConfigMap of params says.
type Values struct {
	*ConfigMap
	Overrides compile.Overrides
	// Unread are the errors in the values of each policy: what is meant by them
	// is not known, the default least of all.
	Unread   map[string][]document.Problem
	Problems []document.Problem
}

// ReadParams parses a ConfigMap of params: a key per policy, in which stands a
// mapping of params to values.
func (c *ConfigMap) ReadParams() *Values {
	out := &Values{ConfigMap: c, Overrides: compile.Overrides{}, Unread: map[string][]document.Problem{}}
	var all document.Problems
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		policy := strings.TrimSuffix(key, ".yaml")
		var problems document.Problems
		if given := c.given(key, &problems); len(given) > 0 {
			out.Overrides[policy] = given
		}
		all.Append(problems.List())
		if problems.HasErrors() {
			out.Unread[policy] = append(out.Unread[policy], problems.List()...)
		}
	}
	out.Problems = all.List()
	return out
}

func (c *ConfigMap) given(key string, problems *document.Problems) map[string]compile.Override {
	name := path.Join(c.Path(), key)
	out := map[string]compile.Override{}
	for _, n := range document.Parse(name, []byte(c.Data[key]), problems) {
		if n.Kind == document.Null {
			continue
		}
		if n.Kind != document.Map {
			problems.Hintf(n.Pos, "name: value, one per line", "the values of the params must be a mapping, not %s", n.Kind)
			continue
		}
		for i, k := range n.Keys {
			if n.Values[i].Kind == document.Null {
				problems.Hintf(k.Pos, "remove the line to have the default", "the param %q has no value", k.Text)
				continue
			}
			out[k.Text] = compile.Given(n.Values[i], c.Path())
		}
	}
	return out
}
