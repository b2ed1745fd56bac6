package compile

import (
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
	problems.Errorf(text.Pos(), "this must give %s, it gives %s", cel.TypeName(want[0]), cel.TypeName(p.Type()))
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
