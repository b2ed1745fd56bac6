package source

import (
	"fmt"
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
	for _, key := range slices.Concat(slices.Sorted(maps.Keys(c.Data)), c.Binary) {
		policy := strings.TrimSuffix(key, ".yaml")
		var problems document.Problems
		if slices.Contains(c.Binary, key) {
			problems.Add(c.binary(key))
		}
		out.key(key, policy, &problems)
		all.Append(problems.List())
		if problems.HasErrors() {
			out.Unread[policy] = append(out.Unread[policy], problems.List()...)
		}
	}
	out.Problems = all.List()
	return out
}

// key reads the values for a policy. It may have two keys, and a key several
// documents.
func (v *Values) key(key, policy string, problems *document.Problems) {
	for _, n := range document.Parse(path.Join(v.Path(), key), []byte(v.Data[key]), problems) {
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
			given := compile.Given(n.Values[i], v.Path())
			if first, taken := v.Overrides[policy][k.Text]; taken {
				problems.Add(givenTwice(policy, k.Text, given, first))
				continue
			}
			v.Overrides.Put(policy, k.Text, given)
		}
	}
}

// givenTwice says that a param has two values.
func givenTwice(policy, name string, second, first compile.Override) document.Problem {
	return document.Problem{Position: second.At, Severity: document.Error,
		Message: fmt.Sprintf("the param %s.%s is given twice, first at %s", policy, name, first.At)}
}
