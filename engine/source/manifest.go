package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"

	"bytes"
	"iter"
	"path"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// manifests are the ConfigMaps and PolicySets in a file.
type manifests struct {
	configMaps []*ConfigMap
	sets       []*Set
	// inside are the texts of the ConfigMaps and the fields of the PolicySets, by the file in problems.
	inside map[string]*document.Node
	// manifest reports whether the file has one of ours, rest are its other documents.
	manifest bool
	rest     []*document.Node
}

// manifestsIn reads the manifests of a file. Problems name the file, the ConfigMap and
// the key.
func manifestsIn(f load.Source, problems *document.Problems) manifests {
	m := manifests{inside: map[string]*document.Node{}}
	if !bytes.Contains(f.Text, []byte("ConfigMap")) && !bytes.Contains(f.Text, []byte(kindPolicySet)) {
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
	case isKind(n, "v1", "List"):
		for _, item := range n.Get("items").Items() {
			m.add(item, file, problems)
		}
	case isKind(n, "v1", "ConfigMap"):
		m.configMaps = append(m.configMaps, m.configMap(n, file))
	case isKind(n, v1alpha1.APIVersion, kindPolicySet):
		m.manifest = true
		if s := m.set(n, file, problems); s != nil {
			m.sets = append(m.sets, s)
		}
	default:
		m.rest = append(m.rest, n)
	}
}

// kindPolicySet is the kind of a PolicySet.
const kindPolicySet = "PolicySet"

// configMap returns the ConfigMap of a manifest.
func (m *manifests) configMap(n *document.Node, file string) *ConfigMap {
	c := &ConfigMap{Namespace: text(n, "metadata", "namespace"), Name: text(n, "metadata", "name"), File: file, Data: map[string]string{}}
	for key, v := range entries(n.Get("data")) {
		c.Data[key] = v.Text
		m.inside[path.Join(c.Path(), key)] = v
		m.manifest = m.manifest || strings.Contains(v.Text, "apiVersion: "+v1alpha1.APIVersion)
	}
	for key, v := range entries(n.Get("binaryData")) {
		c.Binary = append(c.Binary, key)
		m.inside[path.Join(c.Path(), key)] = v
	}
	return c
}

// set returns the PolicySet of a manifest; nil if it is not one.
func (m *manifests) set(n *document.Node, file string, problems *document.Problems) *Set {
	var typed edictv1.PolicySet
	raw, err := json.Marshal(n.Plain())
	if err == nil {
		err = yaml.UnmarshalStrict(raw, &typed)
	}
	if err != nil {
		problems.Errorf(n.Pos, "the PolicySet %s cannot be read: %v", text(n, "metadata", "name"), err)
		return nil
	}
	s := NewSet(&typed)
	s.File = file
	for name, v := range entries(n.Get("spec")) {
		m.inside[s.Place("spec."+name)] = v
	}
	for policy, values := range entries(field(n, "spec", "params")) {
		m.inside[s.Place("spec.params."+policy)] = values
		for name, v := range entries(values) {
			m.inside[s.Place("spec.params."+policy+"."+name)] = v
		}
	}
	for policy, v := range entries(field(n, "spec", "modes")) {
		m.inside[s.Place("spec.modes."+policy)] = v
	}
	return s
}

// join reads the ConfigMaps with the PolicySets that run them. A ConfigMap with policies that no
// set runs is read by itself.
func (b *Bundle) join(problems *document.Problems) (out []*Contents) {
	configMaps, used := b.configMaps, map[*ConfigMap]bool{}
	for _, s := range b.sets {
		name := s.Spec.Source.ConfigMap.Name
		at := slices.IndexFunc(configMaps, func(c *ConfigMap) bool { return c.Name == name && c.Namespace == s.Namespace })
		if at < 0 {
			problems.Add(document.Problem{Position: document.Position{File: s.Place("spec.source")}, Severity: document.Warning, Code: document.SkippedDocument,
				Message: fmt.Sprintf("the ConfigMap %s of the PolicySet %s is not among the files", name, s.Name), Hint: "give its file, too"})
			continue
		}
		used[configMaps[at]] = true
		out = append(out, b.contents(s, configMaps[at]))
	}
	for _, c := range configMaps {
		if !used[c] && slices.ContainsFunc(slices.Collect(maps.Values(c.Data)), func(text string) bool { return strings.Contains(text, "apiVersion: "+v1alpha1.APIVersion) }) {
			out = append(out, b.contents(nil, c))
		}
	}
	for _, c := range out {
		problems.Append(c.Problems)
		problems.Append(c.testProblems())
	}
	return out
}

func isKind(n *document.Node, apiVersion, kind string) bool {
	return text(n, "apiVersion") == apiVersion && text(n, "kind") == kind
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
