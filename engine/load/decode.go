package load

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// decoder fills the types of v1alpha1 from nodes.
type decoder struct {
	problems *document.Problems
}

var (
	textType     = reflect.TypeFor[v1alpha1.Text]()
	templateType = reflect.TypeFor[v1alpha1.Template]()
	nodeType     = reflect.TypeFor[*document.Node]()
	positionType = reflect.TypeFor[document.Position]()
	paramType    = reflect.TypeFor[v1alpha1.Param]()
)

// shortForms are the types that may be written as a text alone, with the field that has the
// text.
var shortForms = map[reflect.Type]string{
	reflect.TypeFor[v1alpha1.Target]():    "Object",
	reflect.TypeFor[v1alpha1.Finalizer](): "Name",
	reflect.TypeFor[v1alpha1.Condition](): "Text",
}

// decode fills target from a node; where names the field for a person.
func (d *decoder) decode(n *document.Node, target reflect.Value, where string) {
	switch target.Type() {
	case textType:
		d.text(n, target, where)
		return
	case templateType:
		target.Set(reflect.ValueOf(v1alpha1.Template{Node: n}))
		return
	case nodeType:
		target.Set(reflect.ValueOf(n))
		return
	case paramType:
		d.param(n, target, where)
		return
	}
	if field, ok := shortForms[target.Type()]; ok && n.Kind != document.Map {
		if pos := target.FieldByName("Pos"); pos.IsValid() {
			pos.Set(reflect.ValueOf(n.Pos))
		}
		d.text(n, target.FieldByName(field), where)
		return
	}
	switch target.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))
		d.decode(n, target.Elem(), where)
	case reflect.Struct:
		d.structure(n, target, where)
	case reflect.Slice:
		d.slice(n, target, where)
	case reflect.Bool:
		d.boolean(n, target, where)
	default:
		d.problems.Errorf(n.Pos, "%s cannot be decoded", where)
	}
}

// text takes any scalar: a CEL expression such as true or 3 is one too.
func (d *decoder) text(n *document.Node, target reflect.Value, where string) {
	switch n.Kind {
	case document.Map, document.List:
		d.problems.Hintf(n.Pos, "put an expression that begins with { or [ in quotes", "%s must be a text, not %s", where, n.Kind)
	case document.Null:
		d.problems.Errorf(n.Pos, "%s is empty", where)
	default:
		target.Set(reflect.ValueOf(v1alpha1.Text{Value: n.Text, Node: n}))
	}
}

func (d *decoder) boolean(n *document.Node, target reflect.Value, where string) {
	b, ok := n.Plain().(bool)
	if !ok {
		hint := ""
		if n.Kind == document.String {
			hint = "write it without quotes"
		}
		d.problems.Hintf(n.Pos, hint, "%s must be true or false, not %s", where, n.Kind)
		return
	}
	target.SetBool(b)
}

func (d *decoder) slice(n *document.Node, target reflect.Value, where string) {
	elem := target.Type().Elem()
	if elem.Kind() == reflect.Struct && elem.NumField() == 2 && strings.HasPrefix(elem.Name(), "Entry[") {
		d.entries(n, target, where)
		return
	}
	if n.Kind != document.List {
		d.problems.Hintf(n.Pos, listHint(n, elem), "%s must be a list, not %s", where, n.Kind)
		return
	}
	target.Set(reflect.MakeSlice(target.Type(), 0, len(n.Values))) // an empty list is there, too
	for i, item := range n.Values {
		v := reflect.New(elem).Elem()
		d.decode(item, v, fmt.Sprintf("%s[%d]", where, i))
		target.Set(reflect.Append(target, v))
	}
}

// entries decodes a mapping whose keys the author chooses.
func (d *decoder) entries(n *document.Node, target reflect.Value, where string) {
	if n.Kind != document.Map {
		d.problems.Errorf(n.Pos, "%s must be a mapping, not %s", where, n.Kind)
		return
	}
	for i, key := range n.Keys {
		v := reflect.New(target.Type().Elem()).Elem()
		v.Field(0).Set(reflect.ValueOf(v1alpha1.Text{Value: key.Text, Node: key}))
		d.decode(n.Values[i], v.Field(1), where+"."+key.Text)
		target.Set(reflect.Append(target, v))
	}
}

func (d *decoder) structure(n *document.Node, target reflect.Value, where string) {
	if pos := target.FieldByName("Pos"); pos.IsValid() && pos.Type() == positionType {
		pos.Set(reflect.ValueOf(n.Pos))
	}
	if whole := target.FieldByName("Node"); whole.IsValid() && whole.Type() == nodeType {
		whole.Set(reflect.ValueOf(n))
	}
	fields := fieldsOf(target.Type())
	if n.Kind != document.Map {
		d.problems.Hintf(n.Pos, mappingHint(n, where, fields), "%s must be a mapping, not %s", where, n.Kind)
		return
	}
	for i, key := range n.Keys {
		index, ok := fields[key.Text]
		switch outer := outdented(n, i, target.Type(), fields); {
		case outer != "" && outer == outdented(n, i-1, target.Type(), fields):
			// reported with the key above
		case outer != "":
			d.problems.Hintf(key.Pos, "indent it further than "+outer, "%q belongs to %s", key.Text, outer)
		case !ok:
			d.problems.Hintf(key.Pos, hintFor(where, key.Text, target.Type()), "%s has no field %q", where, key.Text)
		case n.Values[i].Kind != document.Null || outdented(n, i+1, target.Type(), fields) == "":
			d.decode(n.Values[i], target.Field(index), join(where, key.Text))
		}
	}
}

func join(where, field string) string {
	if where == "the document" {
		return field
	}
	return where + "." + field
}

func fieldsOf(t reflect.Type) map[string]int {
	out := map[string]int{}
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" && tag != "-" {
			out[tag] = i
		}
	}
	return out
}

// param is a default alone, or a mapping that describes the parameter.
func (d *decoder) param(n *document.Node, target reflect.Value, where string) {
	if n.Kind == document.Map {
		d.structure(n, target, where)
		return
	}
	target.Set(reflect.ValueOf(v1alpha1.Param{Default: n}))
}
