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

// For reports whether there are values for a policy, or for a document, also if they cannot
// be read.
func (v *Values) For(policy string) bool {
	return len(v.Overrides[policy]) > 0 || len(v.Unread[policy]) > 0
}

// givenTwice says that a param has two values.
func givenTwice(policy, name string, second, first compile.Override) document.Problem {
	return document.Problem{Position: second.At, Severity: document.Error,
		Message: fmt.Sprintf("the param %s.%s is given twice, first at %s", policy, name, first.At)}
}

// merged returns the values by policy and param. What was typed wins over all others, and
// of two ConfigMaps the first; conflict is told what the other one has to give way for.
func merged(values []*Values, typed compile.Overrides, conflict func(*ConfigMap, document.Problem)) compile.Overrides {
	out := compile.Overrides{}
	for policy, params := range typed {
		for name, o := range params {
			out.Put(policy, name, o)
		}
	}
	for _, v := range values {
		for policy, params := range ordered(v.Overrides) {
			for name, o := range ordered(params) {
				first, taken := out[policy][name]
				switch {
				case !taken:
					out.Put(policy, name, o)
				case first.At.Line > 0: // what was typed is meant to win
					conflict(v.ConfigMap, givenTwice(policy, name, o, first))
				}
			}
		}
	}
	return out
}

// unreadFor returns what cannot be read of the values for a policy.
func unreadFor(u *Unit, values []*Values) (out []document.Problem) {
	for _, v := range values {
		out = append(out, v.Unread[u.Name()]...)
		if of := u.Document.Of; of != "" {
			out = append(out, v.Unread[of]...)
		}
	}
	return out
}

// strangers reports values for policies that do not exist; they may come yet.
func strangers(values []*Values, has func(policy string) bool, conflict func(*ConfigMap, document.Problem)) {
	for _, v := range values {
		for policy, params := range ordered(v.Overrides) {
			if has(policy) {
				continue
			}
			for _, o := range ordered(params) {
				conflict(v.ConfigMap, document.Problem{Position: document.Position{File: o.At.File}, Severity: document.Warning, Code: document.UnknownPolicy,
					Message: fmt.Sprintf("there is no policy %q", policy)})
				break
			}
		}
	}
}
