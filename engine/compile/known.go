package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// knownText says what is known of a text before any evaluation.
func knownText(t *cel.Template) analyze.ParamValue {
	if t == nil {
		return analyze.ParamValue{}
	}
	text, ok := value.Str(t.Constant())
	if !ok {
		return analyze.ParamValue{}
	}
	if p := t.Program(); p != nil {
		return known(text, p)
	}
	out := analyze.ParamValue{Value: text}
	t.Walk(func(p *cel.Program) { out.Computed = out.Computed || len(p.Names()) > 0 })
	return out
}

// known says how the text that an expression over params computes follows from
// them: it is one of them, or made of them.
func known(text string, p *cel.Program) analyze.ParamValue {
	if p == nil {
		return analyze.ParamValue{Value: text}
	}
	if name := analyze.ParamName(p); name != "" {
		return analyze.ParamValue{Value: text, Param: name}
	}
	return analyze.ParamValue{Value: text, Computed: len(p.Names()) > 0}
}

// constantOf returns the value of a template that is known.
func constantOf(t *cel.Template) value.Value {
	if t == nil {
		return nil
	}
	return t.Constant()
}
