package source

import (
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
	for _, n := range nodes {
		if !isConfigMap(n) || text(n, "metadata", "labels", v1alpha1.LabelPolicy) != "true" {
			continue
		}
		m := &ConfigMap{Namespace: f.Path, Name: text(n, "metadata", "name"), Data: map[string]string{},
			Mode: text(n, "metadata", "annotations", v1alpha1.AnnotationMode), Rollout: text(n, "metadata", "annotations", v1alpha1.AnnotationRollout)}
		if data := n.Get("data"); data != nil {
			for i, key := range data.Keys {
				m.Data[key.Text] = data.Values[i].Text
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
	for _, field := range path {
		n = n.Get(field)
	}
	if n == nil {
		return ""
	}
	return n.Text
}
