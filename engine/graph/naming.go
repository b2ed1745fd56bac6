package graph

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// Naming is how the namespace and the name of an object are made of the primary object,
// and of nothing else: those of one Naming are one object, for one primary object. It is
// the text of their templates; the zero value is that they depend on something else.
type Naming struct{ Namespace, Name string }

// Depends reports whether the object is another one for another primary object.
func (n Naming) Depends() bool { return strings.Contains(n.Namespace+n.Name, "${") }

// name notes what names the object.
func (w *Write) name(namespace, name *cel.Template) {
	w.Named = &analyze.Scope{Namespace: constant(namespace), Name: constant(name)}
	if inNamespace, ok := naming(namespace); ok && name != nil {
		if text, ok := naming(name); ok {
			w.Naming = Naming{inNamespace, text}
		}
	}
}

// naming returns the text of a template that depends on the primary object only.
func naming(t *cel.Template) (text string, ok bool) {
	ok = true
	t.Walk(func(p *cel.Program) { ok = ok && local(p) })
	return strings.ReplaceAll(t.Text(), "object.metadata.name", "key.name"), ok // and so the namespace
}

// constant returns the text that a template always gives.
func constant(t *cel.Template) analyze.ParamValue {
	if t == nil {
		return analyze.ParamValue{}
	}
	text, _ := value.Str(t.Constant())
	return analyze.ParamValue{Value: text}
}
