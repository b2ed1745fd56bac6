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

// unlisted is a value that no field lists.
const unlisted = "Unlisted"

// restarts are all restart policies of Pods. Which of them an object may have does not only
// depend on the type of its template.
var restarts = []string{"Always", "Never", "OnFailure"}

// values make objects with one value that their types do not list, and whole ones, which
// such values are then given. Only whether they are refused is compared.
func values() (out []scenario, err error) {
	list, err := objectsIn("testdata/values.yaml", valuesText)
	if err != nil {
		return nil, err
	}
	for i, k := range list {
		name := fmt.Sprintf("values-%s-%d", strings.ToLower(k.Kind), i)
		s := scenario{Name: name, Codes: true, Requests: []request{{Op: create, Kind: k, Name: name, Body: k.object(name, k.base), Manager: "user"}}}
		for n, spoiled := range spoilt(k) {
			other := fmt.Sprintf("%s-%d", name, n)
			s.Requests = append(s.Requests,
				request{Op: create, Kind: k, Name: other, Body: k.object(other, spoiled), Manager: "user"},
				request{Op: patch, Kind: k, Name: name, Body: spoiled, Manager: "user"})
		}
		out = append(out, s)
	}
	return out, nil
}

// spoilt returns the object of a kind with each of its listed values replaced.
func spoilt(k *kind) (out []Object) {
	for _, l := range listedIn(schema.Builtin().Of(k.GVK), "", k.base, nil) {
		out = append(out, l.with(k.base, unlisted))
		if l.name() == "restartPolicy" && path(k.base, "spec", "podFailurePolicy") == nil { // with which it has to be Never
			for _, policy := range restarts {
				out = append(out, l.with(k.base, policy))
			}
		}
	}
	return out
}

// listed is a text whose type lists the values that it may have, and where it is.
type listed struct {
	// definition is the type of the object that has it, or a list of it.
	definition string
	at         []any
}

// name returns the name of the field.
func (l listed) name() string {
	for _, step := range slices.Backward(l.at) {
		if name, ok := step.(string); ok {
			return name
		}
	}
	return ""
}

// with returns an object with another text there.
func (l listed) with(o Object, text string) Object {
	out := runtime.DeepCopyJSON(o)
	var v any = out
	last := len(l.at) - 1
	for _, step := range l.at[:last] {
		v = stepped(v, step)
	}
	switch step := l.at[last].(type) {
	case string:
		v.(Object)[step] = text
	case int:
		v.([]any)[step] = text
	}
	return out
}

func stepped(v any, step any) any {
	if i, ok := step.(int); ok {
		return v.([]any)[i]
	}
	return v.(Object)[step.(string)]
}

// listedIn returns the texts in a value whose types list values; definition is that of the
// object that has the value.
func listedIn(t *schema.Type, definition string, v any, at []any) (out []listed) {
	switch v := v.(type) {
	case Object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, listedIn(t.Field(name), t.Name, v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, listedIn(t.Item(), definition, item, append(slices.Clone(at), i))...)
		}
	case string:
		if len(t.Enum) > 0 {
			out = append(out, listed{definition, at})
		}
	}
	return out
}
