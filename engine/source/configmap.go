package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// ConfigMap is a ConfigMap that holds policies, or values for their params.
type ConfigMap struct {
	Namespace, Name, UID string
	Created              time.Time
	Data                 map[string]string
	// Mode is the annotation that sets modes from outside of the documents:
	// a mode for all policies of the ConfigMap, or policy=mode pairs.
	Mode string
	// Rollout is the annotation with the steps in which new revisions come into force.
	Rollout string
	// Binary are the keys of binary data, sorted. It is not read.
	Binary []string
	// Edits are who last wrote which key, as far as that is known.
	Edits map[string]Edit
}

// Edit is a write of a key.
type Edit struct {
	// Manager is the field manager.
	Manager string
	At      time.Time
}

// LastEdit is the newest write of some keys.
func (c *ConfigMap) LastEdit(keys ...string) (last Edit) {
	for _, key := range keys {
		if e := c.Edits[key]; last.Manager == "" || e.At.After(last.At) {
			last = e
		}
	}
	return last
}

// Path names the ConfigMap where a file's path is expected.
func (c *ConfigMap) Path() string { return c.Namespace + "/" + c.Name }

// annotation names an annotation where a file's path is expected.
func (c *ConfigMap) annotation(name string) string { return c.Path() + annotationMark + name + ")" }

const annotationMark = " (annotation "

// AnnotationOf returns which annotation of the ConfigMap the file of a problem stands for.
func (c *ConfigMap) AnnotationOf(file string) (name string, is bool) {
	name, is = strings.CutPrefix(file, c.Path()+annotationMark)
	return strings.TrimSuffix(name, ")"), is
}

// Revision is a short hash of the data: who annotates the ConfigMap does not
// change it.
func (c *ConfigMap) Revision() string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		fmt.Fprintf(h, "%s %d %s\n", key, len(c.Data[key]), c.Data[key])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// BothLabels says of a ConfigMap of policies that it cannot have params, too: it has one
// status, and two that replace each other would be written without end.
func (c *ConfigMap) BothLabels() document.Problem {
	return document.Problem{
		Position: document.Position{File: c.Path()}, Severity: document.Warning, Code: document.UnreadKey, Hint: "put the params into another ConfigMap",
		Message: fmt.Sprintf("the label %s=true has no effect beside %s=true: no key is read as params", v1alpha1.LabelParams, v1alpha1.LabelPolicy),
	}
}

// Older orders ConfigMaps by age: where two say the same, the older is right.
func Older(a, b *ConfigMap) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Path(), b.Path()))
}

// testSuffix ends the keys that hold tests.
const testSuffix = ".test"

// Read parses a ConfigMap of policies: documents in keys *.yaml, Rego beside
// them in *.rego, tests in *.test.yaml.
func (c *ConfigMap) Read() *Contents {
	out := &Contents{ConfigMap: c}
	var problems document.Problems
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		out.key(key, &problems)
	}
	for _, key := range c.Binary {
		problem := c.binary(key)
		if ext := path.Ext(key); !isDocumentKey(ext) && ext != ".rego" {
			problem.Severity, problem.Code = document.Warning, document.UnreadKey
		}
		problems.Add(problem)
	}
	out.modes(&problems)
	out.rollout(&problems)
	out.bound(&problems)
	out.Problems = problems.List()
	return out
}

// binary says that a key is not read. kubectl puts a file there that is not
// UTF-8: what it was before is not to be taken for removed.
func (c *ConfigMap) binary(key string) document.Problem {
	return document.Problem{Position: document.Position{File: path.Join(c.Path(), key)}, Severity: document.Error,
		Message: "binaryData is not read", Hint: "save the file as UTF-8"}
}

// asked returns the modes that the annotation asks for, by policy; "" is all of
// them.
func (c *ConfigMap) asked() iter.Seq2[string, string] {
	return func(yield func(policy, mode string) bool) {
		for part := range strings.SplitSeq(c.Mode, ",") {
			policy, mode, named := strings.Cut(strings.TrimSpace(part), "=")
			if !named {
				policy, mode = "", policy
			}
			if !yield(policy, mode) {
				return
			}
		}
	}
}

// modeOf is the mode that the annotation asks for; "" is none. of is the name of the
// policy's document if that is for several kinds.
func (c *ConfigMap) modeOf(name, of string) (out string) {
	for policy, mode := range c.asked() {
		if policy == "" || policy == name || policy == of {
			out = mode
		}
	}
	return out
}
