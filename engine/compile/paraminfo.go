package compile

import (
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// describe keeps what people want to know of a param, beside its value.
func (b *builder) describe(p v1alpha1.Entry[v1alpha1.Param], kind string, v, otherwise value.Value) {
	name := p.Key.Value
	b.plan.ParamInfo = append(b.plan.ParamInfo, plan.ParamInfo{
		Name: name, Type: kind, Value: v, Default: otherwise, From: b.options.Params[b.plan.Name][name].From,
		Minimum: written(p.Value.Minimum), Maximum: written(p.Value.Maximum), MinLength: written(p.Value.MinLength),
		Enum: writtenList(p.Value.Enum), Items: writtenList(p.Value.Items.Enum),
		Description: p.Value.Description.Value, Pos: p.Key.Pos(),
	})
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
