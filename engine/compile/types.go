package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// textType is the type of a field that holds a text.
var textType = &schema.Type{Kind: schema.String}

// wantType rejects a program of another type than the field takes.
func wantType(p *cel.Program, text v1alpha1.Text, problems *findings, want ...*cel.Type) {
	if p == nil || cel.IsDyn(p.Type()) {
		return
	}
	for _, w := range want {
		if p.Type().IsExactType(w) {
			return
		}
	}
	problems.Hintf(text.Pos(), comparison(p.Type(), want[0]), "this must give %s, it gives %s", cel.TypeName(want[0]), cel.TypeName(p.Type()))
}

// comparison says how a condition is made of what is none.
func comparison(t, want *cel.Type) string {
	switch {
	case !want.IsExactType(cel.BoolType):
		return ""
	case t.IsExactType(cel.StringType):
		return "compare it, as in x != \"\""
	case t.IsExactType(cel.IntType), t.IsExactType(cel.DoubleType):
		return "compare it, as in x > 0"
	case cel.IsList(t), cel.IsMap(t):
		return "compare its size, as in size(x) > 0"
	case strings.HasPrefix(cel.TypeName(t), "optional("):
		return "x.orValue(false), or x.hasValue()"
	}
	return ""
}

// listHint says how a list is made of what is none.
func listHint(t *cel.Type) string {
	switch {
	case cel.IsMap(t):
		return "m.map(k, k) is the list of its keys"
	case strings.HasPrefix(cel.TypeName(t), "optional("):
		return "x.orValue([])"
	case t.IsExactType(cel.StringType), t.IsExactType(cel.IntType):
		return "[x] is a list of one item"
	}
	return ""
}

// wantDuration rejects what is known not to be a duration: as a field of an
// object, a duration would be a text.
func wantDuration(t *cel.Template, where string, problems *findings) {
	if t == nil {
		return
	}
	if p := t.Program(); p != nil && (cel.IsDyn(p.Type()) || p.Type().IsExactType(cel.DurationType)) {
		return
	}
	problems.Hintf(t.Pos(), "a param of type: duration, or ${duration(\"2s\")}", "%s must be a duration", where)
}

// templateType is what is known of a template's value.
func templateType(t v1alpha1.Template, compiled *cel.Template, maybe bool) *cel.Type {
	if maybe || compiled == nil {
		return cel.DynType
	}
	if t.Node.Kind == document.String && compiled.IsText() {
		return cel.StringType
	}
	return cel.DynType
}

// elemType returns the type of the items of a list.
func elemType(t *cel.Type) *cel.Type {
	if cel.IsDyn(t) {
		return cel.DynType
	}
	return cel.ElemType(t)
}

// fieldAt returns the type of a field at a path; nil when there is none.
func fieldAt(t *schema.Type, path []string) *schema.Type {
	for _, name := range path {
		if t = t.Field(name); t == nil {
			return nil
		}
	}
	return t
}
