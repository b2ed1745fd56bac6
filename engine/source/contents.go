package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/rollout"
)

// Contents are the policies of a ConfigMap as a PolicySet runs them.
type Contents struct {
	// Set is nil if the ConfigMap is read by itself.
	Set *Set
	*ConfigMap
	Units []*Unit
	// Rollout is how new texts come into force; nil is at once.
	Rollout *rollout.Spec
	// Tests are the files that hold policy tests.
	Tests    []load.Source
	Problems []document.Problem

	// params are the values in the text, unread what is wrong with all values.
	params compile.Overrides
	unread []document.Problem
}

// Read reads the policies of a ConfigMap. Set runs them, or is nil.
func Read(set *Set, text *ConfigMap) *Contents {
	c := &Contents{Set: set, ConfigMap: text, params: compile.Overrides{}}
	var problems document.Problems
	for _, key := range slices.Sorted(maps.Keys(text.Data)) {
		c.key(key, &problems)
	}
	for _, key := range text.Binary {
		severity := document.Error
		if ext := path.Ext(key); !isDocumentKey(ext) && ext != ".rego" {
			severity = document.Warning
		}
		problems.Add(document.Problem{Position: document.Position{File: path.Join(text.Path(), key)}, Severity: severity, Code: document.UnreadKey,
			Message: "binaryData is not read", Hint: "save the file as UTF-8"})
	}
	c.apply(&problems)
	c.bound(&problems)
	c.Problems = problems.List()
	return c
}

// apply applies the set and the values of params to the policies.
func (c *Contents) apply(problems *document.Problems) {
	var spec compile.Overrides
	if c.Set != nil {
		var wrong document.Problems
		spec = c.Set.params(&wrong)
		c.Rollout = c.Set.rollout(&wrong)
		c.unread = append(c.unread, wrong.List()...)
		problems.Append(wrong.List())
		c.Set.unknown(c.names(), problems)
	}
	first, revision := map[string]*Unit{}, Revision(c.Digest())
	for _, u := range c.Units {
		given := compile.Overrides{"": c.params.For(u.Name(), u.Document.Of)}.With(compile.Overrides{"": spec.For(u.Name(), u.Document.Of)})
		u.Overrides, u.Unread, u.TextRevision = given[""], c.unread, revision
		if c.Set != nil {
			u.Set, u.ShadowOf, u.Mode, u.Account = c.Set.Name, c.Set.shadowOf(), c.Set.ModeOf(u), c.Set.Spec.ServiceAccountName
			u.Document.Set = c.Set.Name
			if u.ShadowOf != "" {
				u.Document.Set = u.ShadowOf
			}
		}
		if other := first[u.ID()]; other != nil {
			problem := Twice(u, other)
			problems.Add(problem)
			u.Unread = append(slices.Clip(u.Unread), problem)
			continue
		}
		first[u.ID()] = u
	}
	c.Units = slices.DeleteFunc(c.Units, func(u *Unit) bool { return first[u.ID()] != u })
}

// Allowances returns those of the set, or others if there is none.
func (c *Contents) Allowances(others []v1alpha1.Allowance) []v1alpha1.Allowance {
	if c.Set == nil {
		return others
	}
	return c.Set.Allowances()
}

// names returns the names of the policies and their documents.
func (c *Contents) names() (out []string) {
	for _, u := range c.Units {
		out = append(out, u.Name())
		if of := u.Document.Of; of != "" && !slices.Contains(out, of) {
			out = append(out, of)
		}
	}
	return out
}

// TestsRevision is a short hash of the tests.
func (c *Contents) TestsRevision() string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if isTestKey(key) || strings.HasSuffix(key, "_test.rego") {
			fmt.Fprintf(h, "%s %d %s\n", key, len(c.Data[key]), c.Data[key])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// MaxPolicies bounds the policies of one ConfigMap: each is compiled and watched, and the edits of
// other ConfigMaps wait for that.
const MaxPolicies = 200

// bound refuses the policies beyond MaxPolicies. They are not left out: one that runs goes
// on, with its last good text.
func (c *Contents) bound(problems *document.Problems) {
	if len(c.Units) <= MaxPolicies {
		return
	}
	first := c.Units[MaxPolicies]
	problem := document.Problem{Position: first.Document.Pos, Severity: document.Error, Hint: "put the others into another ConfigMap",
		Message: fmt.Sprintf("the ConfigMap has %d policies, counted by kind; from %q on they are not read: at most %d are", len(c.Units), first.Name(), MaxPolicies)}
	problems.Add(problem)
	for _, u := range c.Units[MaxPolicies:] {
		problem.Position = u.Document.Pos
		u.Unread = append(slices.Clip(u.Unread), problem)
	}
}

func (c *Contents) key(key string, problems *document.Problems) {
	file := load.Source{Path: path.Join(c.Path(), key), Text: []byte(c.Data[key])}
	switch {
	case path.Ext(key) == ".rego": // read with its policy
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.Data)), func(k string) bool { return isPolicyKey(k) && belongs(key, k) }) {
			problems.Add(document.Problem{Position: document.Position{File: file.Path}, Severity: document.Warning, Code: document.UnusedRego,
				Message: "no policy uses this Rego", Hint: "it belongs to the key with the same name that ends in .yaml"})
		}
	case key == ParamsKey:
		c.readParams(file, problems)
	case isPolicyKey(key):
		c.documents(key, file, problems)
	case isTestKey(key):
		c.Tests = append(c.Tests, file)
		c.tested(file, problems)
	default:
		problems.Reportf(document.UnreadKey, document.Position{File: file.Path}, "", "this key is not read: it ends neither in .yaml nor in .rego")
	}
}

// readParams reads the values of params, by policy.
func (c *Contents) readParams(file load.Source, problems *document.Problems) {
	const form = "policy-name: {param: value}"
	var wrong document.Problems
	for _, n := range document.Parse(file.Path, file.Text, &wrong) {
		if n.Kind != document.Map {
			wrong.Hintf(n.Pos, form, "params must be a mapping by policy, not %s", n.Kind)
			continue
		}
		for i, policy := range n.Keys {
			values := n.Values[i]
			if values.Kind != document.Map {
				wrong.Hintf(values.Pos, form, "the params of a policy must be a mapping, not %s", values.Kind)
				continue
			}
			for j, name := range values.Keys {
				if values.Values[j].Kind == document.Null {
					wrong.Hintf(name.Pos, "remove the line to have the default", "the param %q has no value", name.Text)
					continue
				}
				c.params.Put(policy.Text, name.Text, compile.Given(values.Values[j], c.Path()))
			}
		}
	}
	problems.Append(wrong.List())
	if wrong.HasErrors() {
		c.unread = append(c.unread, wrong.List()...)
	}
}

// tested reports the keys that tests name and that are not there: such a test would run
// without the policy.
func (c *Contents) tested(file load.Source, problems *document.Problems) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Data)), func(key string) bool { return !isPolicyKey(key) })
	found, _ := load.Documents(file.Path, file.Text) // what is wrong with it is said when it is run
	for _, t := range found.Tests {
		for _, p := range t.Spec.Policies {
			if p.Value != Folder && !slices.Contains(keys, p.Value) {
				problems.Hintf(p.Pos(), "keys with policies are "+strings.Join(keys, ", ")+"; without spec.policies all of them are tested", "the ConfigMap has no key %q", p.Value)
			}
		}
	}
}

// testProblems returns the errors in the documents of tests.
func (c *Contents) testProblems() (out []document.Problem) {
	for _, t := range c.Tests {
		_, problems := load.Documents(t.Path, t.Text)
		out = append(out, problems...)
	}
	return out
}

// belongs reports whether the Rego in one key is that of the policies in another.
func belongs(regoKey, policyKey string) bool {
	base := strings.TrimSuffix(policyKey, path.Ext(policyKey))
	return regoKey == base+".rego" || strings.HasPrefix(regoKey, base+"_")
}

func (c *Contents) documents(key string, file load.Source, problems *document.Problems) {
	found, wrong := load.Documents(file.Path, file.Text)
	problems.Append(wrong)
	problems.Append(found.Skipped)
	for _, t := range found.Tests {
		problems.Hintf(t.Pos, "move it to a key that ends in "+testSuffix+".yaml", "a test stands among the policies")
	}
	for _, a := range found.Allowances {
		problems.Hintf(a.Pos, "write them to spec.allow of the PolicySet", "allowances in the text have no effect: a policy cannot widen what it may do")
	}
	for _, doc := range found.Policies {
		c.Units = append(c.Units, &Unit{Document: doc, File: file, Modules: c.modules(key)})
	}
}

// modules returns the Rego modules of the policies in a key.
func (c *Contents) modules(key string) (out []rego.Module) {
	for _, k := range slices.Sorted(maps.Keys(c.Data)) {
		if path.Ext(k) == ".rego" && belongs(k, key) {
			out = append(out, rego.Module{Name: path.Join(c.Path(), k), Text: c.Data[k]})
		}
	}
	return out
}
