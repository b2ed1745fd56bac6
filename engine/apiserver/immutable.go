package apiserver

import (
	_ "embed"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// lock is a rule about fields of a built-in kind that nobody can change.
type lock struct {
	Fields []string `json:"fields"`
	// But are fields below these that can be changed. Items of lists have no place in a path.
	But []string `json:"but"`
	// Where and Unless restrict the rule to objects that have had some values, or that
	// neither have had nor have others; * is any value.
	Where  map[string]any `json:"where"`
	Unless map[string]any `json:"unless"`
	// Once says that the fields may come to an object without them.
	Once bool `json:"once"`
	// Given says that kube-apiserver gives every object a value, so that none that comes
	// later is it.
	Given bool `json:"given"`
	// Defaults are fields that kube-apiserver sets where they are absent, and to which value;
	// null is that the value is not known. Their documentation does not say so.
	Defaults map[string]any `json:"defaults"`
}

// locks are those of the built-in kinds; kube-apiserver has them in code only, and
// test/conformance compares the two.
//
//go:embed immutable.json
var locksText []byte

var locks = schema.Table[[]lock]("immutable fields", locksText)

// immutable refuses a change of a field that nobody can change.
func (k kind) immutable(old, next Object) error {
	if !k.builtin() {
		return nil
	}
	for _, l := range locks()[k.name()] {
		if !l.holds(old, next) {
			continue
		}
		for _, path := range l.Fields {
			if at := (comparing{k.structure.Definitions, l}).field(k.structure.Root, old, next, path); at != "" {
				return refused(ID(old), field.Forbidden(field.NewPath(at), "field is immutable"))
			}
		}
	}
	return nil
}

func (l lock) holds(old, next Object) bool {
	for path, want := range l.Where {
		if !is(valueAt(old, path), want) {
			return false
		}
	}
	for path, not := range l.Unless {
		if is(valueAt(old, path), not) || is(valueAt(next, path), not) {
			return false
		}
	}
	return true
}

// is reports whether a value is another; * is any.
func is(v, other any) bool {
	if other == "*" {
		return v != nil
	}
	return same(v, other)
}

// valueAt returns a value of an object, nil for none.
func valueAt(o Object, path string) any {
	v, _, err := unstructured.NestedFieldNoCopy(o, strings.Split(path, ".")...)
	if err != nil {
		return nil
	}
	return v
}
