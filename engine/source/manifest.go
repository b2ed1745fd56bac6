package source

import (
	"bytes"
	"iter"
	"path"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// manifests are the ConfigMaps of policies, params and allowances in a file.
type manifests struct {
	contents []*Contents
	values   []*Values
	allowed  []v1alpha1.Allowance
	// inside are the texts of the ConfigMaps, by what problems name as the file.
	inside map[string]*document.Node
	// manifest says that the file has ConfigMaps of ours, rest are its other documents.
	manifest bool
	rest     []*document.Node
}

// manifestsIn reads the manifests of a file. Problems name the file, the ConfigMap and
// the key.
func manifestsIn(f load.Source, problems *document.Problems) manifests {
	m := manifests{inside: map[string]*document.Node{}}
	if !bytes.Contains(f.Text, []byte("ConfigMap")) {
		return m
	}
	var unreadable document.Problems // whoever reads the other documents reports it
	for _, n := range document.ParseUnbounded(f.Path, f.Text, &unreadable) {
		m.add(n, f.Path, problems)
	}
	if m.manifest {
		problems.Append(unreadable.List())
	}
	return m
}

// add takes in a document. kubectl prints several objects as a List.
func (m *manifests) add(n *document.Node, file string, problems *document.Problems) {
	switch {
	case isKind(n, "List"):
		for _, item := range n.Get("items").Items() {
			m.add(item, file, problems)
		}
	case isKind(n, "ConfigMap"):
		m.configMap(n, file, problems)
	default:
		m.rest = append(m.rest, n)
	}
}

// configMap takes in a ConfigMap, if it is one of ours.
func (m *manifests) configMap(n *document.Node, file string, problems *document.Problems) {
	policies, params, allowances := isLabelled(n, v1alpha1.LabelPolicy), isLabelled(n, v1alpha1.LabelParams), isLabelled(n, v1alpha1.LabelAllowances)
	if !policies && !params && !allowances {
		m.manifest = m.manifest || unlabelled(n, problems)
		return
	}
	m.manifest = true
	c := m.read(n, file)
	if policies {
		contents := c.Read()
		problems.Append(contents.Problems)
		problems.Append(contents.testProblems())
		m.contents = append(m.contents, contents)
	}
	switch {
	case params && policies:
		problems.Add(c.BothLabels())
	case params:
		values := c.ReadParams()
		problems.Append(values.Problems)
		m.values = append(m.values, values)
	}
	if allowances {
		allowed, wrong := c.ReadAllowances()
		problems.Append(wrong)
		m.allowed = append(m.allowed, allowed...)
	}
}

// read returns the ConfigMap of a manifest. Where a file's path is expected, the file
// stands in place of the namespace.
func (m *manifests) read(n *document.Node, file string) *ConfigMap {
	c := &ConfigMap{
		Namespace: file, Name: text(n, "metadata", "name"), Data: map[string]string{},
		Mode:    text(n, "metadata", "annotations", v1alpha1.AnnotationMode),
		Rollout: text(n, "metadata", "annotations", v1alpha1.AnnotationRollout),
	}
	for key, v := range entries(n.Get("data")) {
		c.Data[key] = v.Text
		m.inside[path.Join(c.Path(), key)] = v
	}
	for key, v := range entries(n.Get("binaryData")) {
		c.Binary = append(c.Binary, key)
		m.inside[path.Join(c.Path(), key)] = v
	}
	for _, name := range []string{v1alpha1.AnnotationMode, v1alpha1.AnnotationRollout} {
		if a := field(n, "metadata", "annotations", name); a != nil {
			m.inside[c.annotation(name)] = a
		}
	}
	return c
}

// unlabelled reports whether a ConfigMap has policies that the controller does not see,
// and warns of that.
func unlabelled(n *document.Node, problems *document.Problems) bool {
	for key, v := range entries(n.Get("data")) {
		if isPolicyKey(key) && strings.Contains(v.Text, "apiVersion: "+v1alpha1.APIVersion) {
			problems.Reportf(document.SkippedDocument, n.Pos, "labels: {"+v1alpha1.LabelPolicy+`: "true"}`,
				"skipped: the ConfigMap %s has policies, and no label %s with the value \"true\": the controller does not read it", text(n, "metadata", "name"), v1alpha1.LabelPolicy)
			return true
		}
	}
	return false
}

// testProblems returns what is wrong with the tests of a ConfigMap as they are written.
func (c *Contents) testProblems() (out []document.Problem) {
	for _, t := range c.Tests {
		_, problems := load.Documents(t.Path, t.Text)
		out = append(out, problems...)
	}
	return out
}

func isKind(n *document.Node, kind string) bool {
	return text(n, "apiVersion") == "v1" && text(n, "kind") == kind
}

func isLabelled(n *document.Node, label string) bool {
	return text(n, "metadata", "labels", label) == "true"
}

// text returns the text of a field; "" if it is not there.
func text(n *document.Node, path ...string) string {
	if n = field(n, path...); n != nil {
		return n.Text
	}
	return ""
}

func field(n *document.Node, path ...string) *document.Node {
	for _, name := range path {
		n = n.Get(name)
	}
	return n
}

// entries goes through a mapping; nil has none.
func entries(n *document.Node) iter.Seq2[string, *document.Node] {
	return func(yield func(string, *document.Node) bool) {
		if n == nil {
			return
		}
		for i, key := range n.Keys {
			if !yield(key.Text, n.Values[i]) {
				return
			}
		}
	}
}
