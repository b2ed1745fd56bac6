package cel

import (
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/edict-dev/edict/engine/schema"
)

// Record returns the type of a map that always has some fields, each with a type of its
// own, so that a field that it does not have is an error.
func (e *Env) Record(names []string, types []*Type) *Type {
	fields, parts := map[string]*schema.Type{}, make([]string, len(names))
	for i, name := range names {
		fields[name] = e.provider.schemaOf(types[i])
		parts[i] = name + ": " + types[i].String()
	}
	return e.provider.typeOf(schema.Record("{"+strings.Join(parts, ", ")+"}", fields))
}

// schemaOf returns the schema's type of a type, as far as schemas have it.
func (p *provider) schemaOf(t *Type) *schema.Type {
	switch t.Kind() {
	case cel.StructKind:
		if of := p.object(t.TypeName()); of != nil {
			return of
		}
	case cel.ListKind:
		return &schema.Type{Kind: schema.List, Elem: p.schemaOf(ElemType(t))}
	case cel.MapKind:
		return &schema.Type{Kind: schema.Map, Elem: p.schemaOf(ElemType(t))}
	}
	if kind, ok := scalarKinds[t.Kind()]; ok {
		return &schema.Type{Kind: kind}
	}
	return schema.Any
}

var scalarKinds = map[cel.Kind]schema.Kind{
	cel.StringKind: schema.String, cel.IntKind: schema.Int, cel.DoubleKind: schema.Double, cel.BoolKind: schema.Bool, cel.TimestampKind: schema.Time,
}
