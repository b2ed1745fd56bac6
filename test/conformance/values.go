package conformance

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/engine/schema"
)

//go:embed testdata/values.yaml
var valuesText []byte

// restarts are all restart policies of Pods. Which of them an object may have does not only
// depend on the type of its template.
var restarts = []any{"Always", "Never", "OnFailure"}

// malformed are texts that no form allows, and that only some allow.
var malformed = []any{"a b=", "-a", "a.b", "A", "1", strings.Repeat("a", 16), strings.Repeat("a", 64), strings.Repeat("a", 254)}

// values make objects with one value that their types may not allow, and whole ones, which
// are then given such values. Only whether they are refused is compared.
func values() (out []scenario, err error) {
	list, err := objectsIn("testdata/values.yaml", valuesText)
	if err != nil {
		return nil, err
	}
	for i, k := range list {
		name := fmt.Sprintf("values-%s-%d", strings.ToLower(k.Kind), i)
		s := scenario{Name: name, Codes: true, Requests: []request{{Op: create, Kind: k, Name: name, Body: k.object(name, k.base), Manager: "user"}}}
		for n, t := range trials(k) {
			other := fmt.Sprintf("%s-%d", name, n)
			s.Requests = append(s.Requests, request{Op: create, Kind: k, Name: other, Body: k.object(other, t.object), Manager: "user"})
			if t.refused {
				s.Requests = append(s.Requests, request{Op: patch, Kind: k, Name: name, Body: t.object, Manager: "user"})
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// trial is an object with another value, which the server in memory refuses or not.
type trial struct {
	object  Object
	refused bool
}

// trials are the object of a kind with each of its bounded values replaced.
func trials(k *kind) (out []trial) {
	for _, b := range boundedIn(schema.Builtin().Of(k.GVK), "", k.base, nil) {
		for _, v := range b.tried {
			out = append(out, trial{b.with(k.base, v), b.refuses(v)})
		}
		if b.name() == "restartPolicy" && path(k.base, "spec", "podFailurePolicy") == nil { // with which it has to be Never
			for _, v := range restarts {
				out = append(out, trial{object: b.with(k.base, v)})
			}
		}
	}
	return out
}

// bounded is a value that may not be all that its sort has, and where it is.
type bounded struct {
	// definition is the type of the object that has it, or a list of it.
	definition string
	of         *schema.Type
	at         []any
	tried      []any
}

func (b bounded) refuses(v any) bool {
	reason, _ := b.of.Refused(v)
	text, _ := v.(string)
	return reason != "" || len(schema.Malformed(b.definition, b.name(), text)) > 0
}

// candidates returns values to try in a field of a type, some of which are refused; none if
// it may be anything.
func candidates(t *schema.Type, definition, field string) []any {
	switch {
	case len(t.Enum) > 0:
		return []any{"Unlisted"}
	case len(schema.Malformed(definition, field, "\x00")) > 0:
		return malformed
	case t.Kind == schema.Int:
		return edges(t)
	}
	return nil
}

// lowest and highest are the bounds that fields of built-in kinds have.
var (
	lowest  = []int64{0, 1}
	highest = []int64{100, 511, 65535, 86400, 1_000_000_000, 2_147_483_647}
)

// edges returns the numbers at the bounds of a type, and those beside them.
func edges(t *schema.Type) (out []any) {
	excludes := func(n int64, bound string) bool {
		_, allowed := t.Refused(n)
		return strings.HasPrefix(allowed, bound)
	}
	for _, n := range lowest {
		if excludes(n-1, "at least") && !excludes(n, "at least") {
			out = append(out, n, n, n+1, n-1)
		}
	}
	for _, n := range highest {
		if excludes(n+1, "at most") && !excludes(n, "at most") {
			out = append(out, n, n, n+1, n-1)
		}
	}
	return out
}

// name returns the name of the field.
func (b bounded) name() string {
	for _, step := range slices.Backward(b.at) {
		if name, ok := step.(string); ok {
			return name
		}
	}
	return ""
}

// with returns an object with another value there.
func (b bounded) with(o Object, other any) Object {
	out := runtime.DeepCopyJSON(o)
	var v any = out
	last := len(b.at) - 1
	for _, step := range b.at[:last] {
		v = stepped(v, step)
	}
	switch step := b.at[last].(type) {
	case string:
		v.(Object)[step] = other
	case int:
		v.([]any)[step] = other
	}
	return out
}

func stepped(v any, step any) any {
	if i, ok := step.(int); ok {
		return v.([]any)[i]
	}
	return v.(Object)[step.(string)]
}

// boundedIn returns the bounded values in a value; definition is that of the object that has
// it.
func boundedIn(t *schema.Type, definition string, v any, at []any) (out []bounded) {
	switch v := v.(type) {
	case Object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, boundedIn(t.Field(name), t.Name, v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, boundedIn(t.Item(), definition, item, append(slices.Clone(at), i))...)
		}
	default:
		b := bounded{definition: definition, of: t, at: at}
		if b.tried = candidates(t, definition, b.name()); len(b.tried) > 0 {
			out = append(out, b)
		}
	}
	return out
}
