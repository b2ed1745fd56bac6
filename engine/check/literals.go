package check

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// literals finds texts that are written out and that the API server would refuse at
// every write, by what Kubernetes' own kinds require. What their schemas say is
// looked at when a policy is compiled.
func literals(p *policy) {
	children := p.unit.Document.Spec.Children
	for i := range children {
		p.manifest(children[i].Apply.Node)
		p.literalsOf(children[i].OnError)
	}
	rules := p.unit.Document.Spec.Rules
	for i := range rules {
		p.literalsOf(rules[i].Do)
		p.literalsOf(rules[i].OnError)
		for j := range rules[i].Cases {
			p.literalsOf(rules[i].Cases[j].Do)
		}
	}
}

func (p *policy) literalsOf(list []v1alpha1.Action) {
	for i := range list {
		a := &list[i]
		switch {
		case a.Apply != nil:
			p.manifest(a.Apply.Node)
		case a.Create != nil:
			p.manifest(a.Create.Node)
		case a.Patch != nil:
			p.patched(a.Patch)
		case a.Status != nil:
			p.under(p.plan.Primary.GVK, []string{"status"}, a.Status)
		case a.Select != nil:
			p.literalsOf(a.Select.Together)
			p.literalsOf(a.Select.Then)
			p.literalsOf(a.Select.Otherwise)
		}
	}
}

func (p *policy) manifest(n *document.Node) {
	kind := schema.GVK{APIVersion: textOf(n.Get("apiVersion")), Kind: textOf(n.Get("kind"))}
	if s := p.structure(kind); s != nil {
		s.object(n)
		if name := n.Get("metadata").Get("name"); literal(name) {
			s.wrong(name, p.bundle.Schemas.Naming(kind)(name.Text, false), "name of an object")
		}
	}
}

func textOf(n *document.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// patched looks at a patch of an object whose kind is written out.
func (p *policy) patched(a *v1alpha1.PatchAction) {
	kind := p.plan.Primary.GVK
	if a.Of != nil {
		kind = schema.GVK{APIVersion: a.Of.APIVersion.Value, Kind: a.Of.Kind.Value}
	}
	if a.List.Set() {
		path := append(strings.Split(a.List.Value, "."), "")
		p.under(kind, path, a.By)
		if s := p.structure(kind); s != nil && a.Entry.Set() {
			s.check(a.Entry.Node, s.at(path))
		}
		return
	}
	if s := p.structure(kind); s != nil && a.Value.Set() {
		s.object(a.Value.Node)
	}
}

// under looks at the fields below a path of a kind.
func (p *policy) under(kind schema.GVK, path []string, set []v1alpha1.Entry[v1alpha1.Template]) {
	s := p.structure(kind)
	if s == nil {
		return
	}
	n := &document.Node{Kind: document.Map}
	for _, e := range set {
		n.Keys, n.Values = append(n.Keys, e.Key.Node), append(n.Values, e.Value.Node)
	}
	s.check(n, s.at(path))
}

// structure returns what is known of the texts of a kind; nil when that is nothing.
func (p *policy) structure(kind schema.GVK) *structure {
	if s, ok := p.bundle.Schemas.Structure(kind); ok {
		return &structure{kind: kind, schema: s, policy: p}
	}
	return nil
}

type structure struct {
	kind   schema.GVK
	schema *schema.Structure
	policy *policy
}

// at returns the schema at a path, in which "" is an item of a list.
func (s *structure) at(path []string) *spec.Schema {
	out := s.schema.Root
	for _, name := range path {
		resolved, _ := s.schema.Definitions.Resolve(out)
		if name == "" {
			if resolved.Items == nil || resolved.Items.Schema == nil {
				return &spec.Schema{}
			}
			out = resolved.Items.Schema
			continue
		}
		field := resolved.Properties[name]
		out = &field
	}
	return out
}

// otherTemplate matches what other systems write for an expression in a text.
var otherTemplate = regexp.MustCompile(`\{\{|\{%|<%|\$\(|\$[A-Za-z]`)

// literal reports whether a text is written out.
func literal(n *document.Node) bool {
	return n != nil && n.Kind == document.String && !strings.Contains(n.Text, "${")
}

// files are the fields of Kubernetes' own kinds whose keys are names of files.
var files = map[schema.GVK][]string{
	{APIVersion: "v1", Kind: "ConfigMap"}: {"data", "binaryData"},
	schema.Secret:                         {"data", "stringData"},
}

// object checks the fields of an object.
func (s *structure) object(n *document.Node) {
	s.check(n, s.schema.Root)
	for _, field := range files[s.kind] {
		if keys := n.Get(field); keys != nil && keys.Kind == document.Map {
			s.keys(keys, validation.IsConfigMapKey, "key of "+field)
		}
	}
}

func (s *structure) check(n *document.Node, of *spec.Schema) {
	of, name := s.schema.Definitions.Resolve(of)
	switch n.Kind {
	case document.Map:
		for i, key := range n.Keys {
			value := n.Values[i]
			s.named(name, key, value)
			if field, known := of.Properties[key.Text]; known {
				s.check(value, &field)
			} else if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
				s.check(value, of.AdditionalProperties.Schema)
			}
		}
	case document.List:
		if of.Items != nil && of.Items.Schema != nil {
			for _, item := range n.Values {
				s.check(item, of.Items.Schema)
			}
		}
	}
}

// named checks a field that Kubernetes has a form for, and the keys of maps.
func (s *structure) named(definition string, key, value *document.Node) {
	if literal(value) {
		s.wrong(value, schema.Malformed(definition, key.Text, value.Text), key.Text)
	}
	if !strings.HasSuffix(definition, ".ObjectMeta") || key.Text != "labels" || value.Kind != document.Map {
		return
	}
	s.keys(value, validation.IsQualifiedName, "key of a label")
	for _, v := range value.Values {
		if literal(v) {
			s.wrong(v, validation.IsValidLabelValue(v.Text), "value of a label")
		}
	}
}

// keys checks the keys of a map. One with null is left out.
func (s *structure) keys(n *document.Node, check func(string) []string, what string) {
	for i, key := range n.Keys {
		if literal(key) && n.Values[i].Kind != document.Null {
			s.wrong(key, check(key.Text), what)
		}
	}
}

func (s *structure) wrong(n *document.Node, problems []string, what string) {
	if len(problems) > 0 && otherTemplate.MatchString(n.Text) {
		problems = []string{"an expression in a text is written ${ }, as in \"${key.name}-x\""}
	}
	if len(problems) > 0 {
		s.policy.report(document.InvalidName, n.Pos, problems[0], fmt.Sprintf("%q cannot be the %s", n.Text, what))
	}
}
