package source

import (
	"path"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// configMaps takes in the policies of a file that has manifests of ConfigMaps, and
// reports whether it is one. Problems name the file, the ConfigMap and the key.
func (p *parsed) configMaps(f load.Source) bool {
	var problems document.Problems
	nodes := document.ParseUnbounded(f.Path, f.Text, &problems)
	if len(nodes) == 0 || !isConfigMap(nodes[0]) {
		return false
	}
	p.inside = map[string]*document.Node{}
	for _, n := range nodes {
		if !isConfigMap(n) || text(n, "metadata", "labels", v1alpha1.LabelPolicy) != "true" {
			continue
		}
		m := &ConfigMap{Namespace: f.Path, Name: text(n, "metadata", "name"), Data: map[string]string{},
			Mode: text(n, "metadata", "annotations", v1alpha1.AnnotationMode), Rollout: text(n, "metadata", "annotations", v1alpha1.AnnotationRollout)}
		if data := n.Get("data"); data != nil {
			for i, key := range data.Keys {
				m.Data[key.Text] = data.Values[i].Text
				p.inside[path.Join(m.Path(), key.Text)] = data.Values[i]
			}
		}
		for _, name := range []string{v1alpha1.AnnotationMode, v1alpha1.AnnotationRollout} {
			if a := field(n, "metadata", "annotations", name); a != nil {
				p.inside[m.annotation(name)] = a
			}
		}
		contents := m.Read()
		problems.Append(contents.Problems)
		p.units = append(p.units, contents.Units...)
	}
	p.manifest, p.problems = true, problems.List()
	return true
}

func isConfigMap(n *document.Node) bool {
	return text(n, "apiVersion") == "v1" && text(n, "kind") == "ConfigMap"
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
