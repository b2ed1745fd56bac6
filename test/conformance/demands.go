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

//go:embed testdata/demanded.yaml
var demandedText []byte

// demands make objects without one of the fields that the server in memory demands, and
// whole ones. Only whether they are refused is compared.
func demands() (out []scenario, err error) {
	list, err := objectsIn("testdata/demanded.yaml", demandedText)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		s := scenario{Name: "demands-" + strings.ToLower(k.Kind), Codes: true}
		add := func(body Object) {
			name := fmt.Sprintf("%s-%d", s.Name, len(s.Requests))
			s.Requests = append(s.Requests, request{Op: create, Kind: k, Name: name, Body: k.object(name, body), Manager: "user"})
		}
		add(k.base)
		for _, d := range demandedIn(schema.Builtin().Of(k.GVK), k.base, nil) {
			add(d.without(k.base))
		}
		out = append(out, s)
	}
	return out, nil
}

// demandedField is a field that is demanded, and where it is.
type demandedField struct {
	definition, name string
	at               []any
}

// without returns an object without the field.
func (d demandedField) without(o Object) Object {
	out := runtime.DeepCopyJSON(o)
	var v any = out
	for _, step := range d.at {
		v = stepped(v, step)
	}
	delete(v.(Object), d.name)
	return out
}

// demandedIn returns the fields of a value that are demanded.
func demandedIn(t *schema.Type, v any, at []any) (out []demandedField) {
	switch v := v.(type) {
	case Object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if t.Demands(name) {
				out = append(out, demandedField{t.Name, name, at})
			}
			out = append(out, demandedIn(t.Field(name), v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, demandedIn(t.Item(), item, append(slices.Clone(at), i))...)
		}
	}
	return out
}
