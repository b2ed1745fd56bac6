package compile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// param is a param with the value in force.
type param struct {
	plan.ParamInfo
	node *analyze.Node
}

func (p *param) ref() analyze.Ref { return analyze.ParamRef(p.Name) }

func (p *param) of() *cel.Type { return paramType(p.Type, p.Value) }

// params resolves the params of one policy: their defaults, or what overrides
// them.
type params struct {
	policy    v1alpha1.Text
	overrides map[string]Override
	problems  *findings
}

func (ps *params) all(docs []v1alpha1.Entry[v1alpha1.Param]) (out []param) {
	for _, doc := range docs {
		name := doc.Key.Value
		if !identifierForm.MatchString(name) {
			ps.problems.Hintf(doc.Key.Pos(), "letters, digits and _, not beginning with a digit", "%q cannot be the name of a param", name)
			continue
		}
		if doc.Value.Default == nil {
			ps.problems.Hintf(doc.Key.Pos(), name+": VALUE, or "+name+": {default: VALUE}", "the param %q has no default", name)
			continue
		}
		if p := ps.one(doc); p != nil {
			out = append(out, *p)
		}
	}
	ps.unknown(docs)
	return out
}

// unknown rejects overrides of params that the policy does not have.
func (ps *params) unknown(docs []v1alpha1.Entry[v1alpha1.Param]) {
	known := make([]string, 0, len(docs))
	for _, doc := range docs { // also those with another problem
		known = append(known, doc.Key.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(ps.overrides)) {
		if !slices.Contains(known, name) {
			ps.problems.Hintf(ps.overrides[name].at(ps.policy.Pos()), document.DidYouMean(name, known), "the policy %s has no param %q", ps.policy.Value, name)
		}
	}
}

// one resolves a param; nil when it has no value at all.
func (ps *params) one(doc v1alpha1.Entry[v1alpha1.Param]) *param {
	kind := paramKind(doc.Value)
	otherwise := ps.byDefault(doc, kind)
	v := ps.overridden(doc, kind, otherwise)
	if v == nil {
		return nil
	}
	node := analyze.New(analyze.Param, doc.Key.Value, doc.Key.Pos())
	node.Text = fmt.Sprint(value.Plain(v))
	return &param{ParamInfo: ps.describe(doc, kind, v, otherwise), node: node}
}

// byDefault returns the default of a param, or what takes the place of a wrong one.
func (ps *params) byDefault(doc v1alpha1.Entry[v1alpha1.Param], kind string) value.Value {
	v, err := paramValue(kind, doc.Value.Default.Plain())
	if err == nil {
		err = withinBounds(doc.Value, kind, v)
	}
	if err == nil {
		return v
	}
	ps.problems.Errorf(doc.Value.Default.Pos, "the default of the param %q: %v", doc.Key.Value, err)
	if v == nil {
		return standIn[kind]
	}
	return v
}

// overridden returns the value in force.
func (ps *params) overridden(doc v1alpha1.Entry[v1alpha1.Param], kind string, otherwise value.Value) value.Value {
	o, ok := ps.overrides[doc.Key.Value]
	if !ok {
		return otherwise
	}
	v, err := readOverride(doc.Value, kind, o)
	if err != nil {
		ps.problems.Errorf(o.at(doc.Key.Pos()), "the value %q given for the param %s.%s: %v", o, ps.policy.Value, doc.Key.Value, err)
		return otherwise
	}
	return v
}

// describe returns what people want to know of a param, beside its value.
func (ps *params) describe(doc v1alpha1.Entry[v1alpha1.Param], kind string, v, otherwise value.Value) plan.ParamInfo {
	name, p := doc.Key.Value, doc.Value
	return plan.ParamInfo{
		Name: name, Type: kind, Value: v, Default: otherwise, From: ps.overrides[name].From, Required: p.Required,
		Minimum: written(p.Minimum), Maximum: written(p.Maximum), MinLength: written(p.MinLength),
		Enum: writtenList(p.Enum), Items: writtenList(p.Items.Enum),
		Description: p.Description.Value, Pos: doc.Key.Pos(),
	}
}

// readOverride reads an override.
func readOverride(p v1alpha1.Param, kind string, o Override) (value.Value, error) {
	raw, err := o.raw(kind)
	if err != nil {
		return nil, err
	}
	v, err := paramValue(kind, raw)
	if err != nil {
		return nil, err
	}
	return v, withinBounds(p, kind, v)
}

func written(n *document.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

func writtenList(n *document.Node) (out []string) {
	if n == nil {
		return nil
	}
	for _, item := range n.Values {
		out = append(out, item.Text)
	}
	return out
}
