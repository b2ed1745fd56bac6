package cel

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// provider tells CEL the fields of the kinds. Object types are looked up by
// the name that their schema gave them.
type provider struct {
	types.Provider
	mu      sync.RWMutex
	objects map[string]*schema.Type
}

// typeOf returns the CEL type of a schema's type and remembers its objects.
func (p *provider) typeOf(t *schema.Type) *cel.Type {
	switch t.Kind {
	case schema.Object:
		if t.Name == "" {
			return cel.DynType
		}
		p.mu.Lock()
		p.objects[t.Name] = t
		p.mu.Unlock()
		return cel.ObjectType(t.Name)
	case schema.Map:
		return cel.MapType(cel.StringType, p.typeOf(t.Elem))
	case schema.List:
		return cel.ListType(p.typeOf(t.Elem))
	case schema.String:
		return cel.StringType
	case schema.Int:
		return cel.IntType
	case schema.Double:
		return cel.DoubleType
	case schema.Bool:
		return cel.BoolType
	case schema.Time:
		return cel.TimestampType
	default:
		return cel.DynType
	}
}

func (p *provider) object(name string) *schema.Type {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.objects[name]
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if p.object(name) != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if t := p.object(name); t != nil {
		return t.FieldNames(), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	t := p.object(name)
	if t == nil {
		return p.Provider.FindStructFieldType(name, field)
	}
	ft := t.Field(field)
	if ft == nil {
		return nil, false
	}
	return &types.FieldType{
		Type:  p.typeOf(ft),
		IsSet: func(target any) bool { return lookup(target, field) != nil },
		GetFrom: func(target any) (any, error) {
			if v := lookup(target, field); v != nil {
				return v, nil
			}
			return nil, fmt.Errorf("no such key: %s", field)
		},
	}, true
}

func lookup(target any, field string) value.Value {
	if m, ok := target.(*value.Map); ok {
		return m.Lookup(field)
	}
	return nil
}

// adapter passes settled values as they are.
type adapter struct{ types.Adapter }

// NativeToValue implements types.Adapter.
func (a adapter) NativeToValue(v any) ref.Val {
	if val, ok := v.(ref.Val); ok {
		return val
	}
	return a.Adapter.NativeToValue(v)
}
