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
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/rollout"
)

// Contents is what a ConfigMap of policies holds.
type Contents struct {
	*ConfigMap
	Units []*Unit
	// Rollout is how new revisions come into force; nil is at once.
	Rollout *rollout.Spec
	// Tests are the files that hold policy tests.
	Tests    []load.Source
	Problems []document.Problem
}

// TestsRevision is a short hash of the tests.
func (c *Contents) TestsRevision() string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if ext := path.Ext(key); isDocumentKey(ext) && !isPolicyKey(key) || strings.HasSuffix(key, "_test.rego") {
			fmt.Fprintf(h, "%s %d %s\n", key, len(c.Data[key]), c.Data[key])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// MaxPolicies bounds the policies of one ConfigMap: each is compiled, watched and kept in
// the history, and the edits of other ConfigMaps wait for that.
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
		u.Unread = append(u.Unread, problem)
	}
}

func (c *Contents) key(key string, problems *document.Problems) {
	file := load.Source{Path: path.Join(c.Path(), key), Text: []byte(c.Data[key])}
	ext := path.Ext(key)
	switch {
	case ext == ".rego": // read with the policy beside it
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.Data)), func(k string) bool { return isPolicyKey(k) && belongs(key, k) }) {
			problems.Add(document.Problem{Position: document.Position{File: file.Path}, Severity: document.Warning, Code: document.UnusedRego,
				Message: "no policy uses this Rego", Hint: "it belongs to the key with the same name that ends in .yaml"})
		}
	case isPolicyKey(key):
		c.documents(key, file, problems)
	case isDocumentKey(ext):
		c.Tests = append(c.Tests, file)
		c.tested(file, problems)
	default:
		problems.Reportf(document.UnreadKey, document.Position{File: file.Path}, "", "this key is not read: it ends neither in .yaml nor in .rego")
	}
}

// tested reports the keys that tests name and that are not there: such a test would run
// without the policy.
func (c *Contents) tested(file load.Source, problems *document.Problems) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Data)), func(key string) bool { return !isPolicyKey(key) })
	found, _ := load.Documents(file.Path, file.Text) // what is wrong with it is said when it is run
	for _, t := range found.Tests {
		for _, p := range t.Spec.Policies {
			if !slices.Contains(keys, p.Value) {
				problems.Hintf(p.Pos(), "keys with policies are "+strings.Join(keys, ", ")+"; without spec.policies all of them are tested", "the ConfigMap has no key %q", p.Value)
			}
		}
	}
}

func isDocumentKey(ext string) bool { return ext == ".yaml" || ext == ".yml" || ext == ".json" }

func isPolicyKey(key string) bool {
	ext := path.Ext(key)
	return isDocumentKey(ext) && path.Ext(strings.TrimSuffix(key, ext)) != testSuffix
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
		problems.Hintf(a.Pos, "give them to the controller with --allowances", "allowances belong to the installation: a policy cannot widen what it may do")
	}
	for _, doc := range found.Policies {
		c.Units = append(c.Units, &Unit{Document: doc, File: file, ConfigMap: c.Name, Modules: ModulesOf(c.Path(), key, c.Data)})
	}
}

// ModulesOf returns the Rego modules beside a key of a ConfigMap's data; the
// path of the ConfigMap is part of their names.
func ModulesOf(configMap, key string, data map[string]string) (out []rego.Module) {
	for _, k := range slices.Sorted(maps.Keys(data)) {
		if path.Ext(k) == ".rego" && belongs(k, key) {
			out = append(out, rego.Module{Name: path.Join(configMap, k), Text: data[k]})
		}
	}
	return out
}

// rollout reads the annotation with the steps. If it cannot be read, no policy is to be
// put in force at once by mistake.
func (c *Contents) rollout(problems *document.Problems) {
	if c.ConfigMap.Rollout == "" {
		return
	}
	spec, wrong := rollout.Parse(c.annotation(v1alpha1.AnnotationRollout), c.ConfigMap.Rollout)
	c.Rollout = spec
	problems.Append(wrong)
	for _, u := range c.Units {
		u.Unread = append(u.Unread, wrong...)
	}
}

// modes applies the annotation.
func (c *Contents) modes(problems *document.Problems) {
	if c.Mode == "" {
		return
	}
	at := document.Position{File: c.annotation(v1alpha1.AnnotationMode)}
	known := func(mode string) bool {
		return slices.Contains([]string{v1alpha1.ModeEnforce, v1alpha1.ModeShadow, v1alpha1.ModeDisabled}, mode)
	}
	unknown := func(mode string) document.Problem {
		return document.Problem{Position: at, Severity: document.Error, Message: fmt.Sprintf("unknown mode %q", mode), Hint: "Enforce, Shadow or Disabled, alone or as policy=mode"}
	}
	names := make([]string, 0, len(c.Units))
	for _, u := range c.Units {
		names = append(names, u.Name())
		if of := u.Document.Of; of != "" && !slices.Contains(names, of) {
			names = append(names, of)
		}
	}
	for policy, mode := range c.asked() {
		if !known(mode) {
			problems.Add(unknown(mode))
		}
		if policy != "" && !slices.Contains(names, policy) { // it may come yet
			problems.Add(document.Problem{Position: at, Severity: document.Warning, Code: document.UnknownPolicy,
				Message: fmt.Sprintf("there is no policy %q in this ConfigMap", policy), Hint: document.DidYouMean(policy, names)})
		}
	}
	for _, u := range c.Units {
		switch mode := c.modeOf(u.Name(), u.Document.Of); {
		case mode == "":
		case known(mode):
			u.Mode = mode
		default: // it is not to be enforced by mistake
			u.Undecided, u.Unread = true, append(u.Unread, unknown(mode))
		}
	}
}
