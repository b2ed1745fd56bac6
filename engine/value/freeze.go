package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/schema"
)

// Mask says which parts of an object are kept. A nil Mask keeps nothing, one
// without fields of its own keeps the scalar it stands at.
type Mask struct {
	// All keeps everything from here on.
	All bool
	// Fields are the kept fields of an object.
	Fields map[string]*Mask
	// Each is kept of every value of a map and every item of a list.
	Each *Mask
}

// KeepAll is the mask that keeps everything.
var KeepAll = &Mask{All: true}

func (m *Mask) field(name string) *Mask {
	if m == nil || m.All {
		return m
	}
	own, ok := m.Fields[name]
	switch {
	case !ok:
		return m.Each
	case m.Each == nil:
		return own
	default:
		return Merge(own, m.Each)
	}
}

// keeps reports whether a field is kept, or anything below it.
func (m *Mask) keeps(name []byte) bool {
	if m == nil || m.All {
		return m != nil
	}
	return m.Each != nil || m.Fields[string(name)] != nil
}

func (m *Mask) item() *Mask {
	if m == nil || m.All {
		return m
	}
	return m.Each
}

// Freeze makes an immutable value of decoded JSON (nil, bool, int64, float64,
// string, []any, map[string]any), keeping what the mask says. Date-times are
// found by the type; a null field counts as absent.
func Freeze(raw any, t *schema.Type, mask *Mask) Value {
	return freeze(raw, t, mask, false)
}

func freeze(raw any, t *schema.Type, mask *Mask, timeName bool) Value {
	switch v := raw.(type) {
	case nil:
		return types.NullValue
	case string:
		return freezeString(v, t, timeName)
	case bool:
		return types.Bool(v)
	case map[string]any:
		return freezeMap(v, t, mask)
	case []any:
		items, deep := make([]Value, len(v)), HolderBytes
		for i, item := range v {
			items[i] = freeze(item, t.Item(), mask.item(), false)
			deep += Deep(items[i])
		}
		return &List{items: items, sizes: partSizes(deep)}
	default:
		return freezeNumber(raw, t)
	}
}

func freezeMap(m map[string]any, t *schema.Type, mask *Mask) Value {
	keys := make([]string, 0, len(m))
	for k, v := range m {
		if v != nil && mask.field(k) != nil {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	vals, deep := make([]Value, len(keys)), HolderBytes
	for i, k := range keys {
		ft := t.Field(k)
		vals[i] = freeze(m[k], ft, mask.field(k), ft != nil && ft.Guess && isTimeName(k))
		deep += ScalarBytes + len(k) + Deep(vals[i])
	}
	if len(keys) == 0 {
		return Empty
	}
	return &Map{shape: ownShape(keys), vals: vals, sizes: partSizes(deep)}
}

func isTimeName(field string) bool {
	return strings.HasSuffix(field, "Time") || strings.HasSuffix(field, "Timestamp")
}

func freezeString(s string, t *schema.Type, timeName bool) Value {
	if timeName || t != nil && t.Kind == schema.Time {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return types.Timestamp{Time: at.UTC()}
		}
	}
	return types.String(s)
}

func freezeNumber(raw any, t *schema.Type) Value {
	switch n := raw.(type) {
	case int64:
		return integer(n, t)
	case int:
		return integer(int64(n), t)
	case int32:
		return integer(int64(n), t)
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 && (t == nil || t.Kind != schema.Double) {
			return types.Int(int64(n))
		}
		return types.Double(n)
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return integer(i, t)
		}
		f, _ := n.Float64()
		return types.Double(f)
	default:
		return types.String(fmt.Sprint(raw))
	}
}

func integer(n int64, t *schema.Type) Value {
	if t != nil && t.Kind == schema.Double {
		return types.Double(float64(n))
	}
	return types.Int(n)
}

// covers reports whether a mask keeps all that another keeps.
func (m *Mask) covers(other *Mask) bool {
	switch {
	case other == nil || m == other || m != nil && m.All:
		return true
	case m == nil || other.All || !m.Each.covers(other.Each):
		return false
	}
	for name, of := range other.Fields {
		if field, ok := m.Fields[name]; !ok || !field.covers(of) {
			return false
		}
	}
	return true
}

// Merge returns a mask that keeps what either keeps. Masks are not changed, so it may be
// one of them.
func Merge(a, b *Mask) *Mask {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	case a.All || b.All:
		return KeepAll
	case a.covers(b):
		return a
	case b.covers(a):
		return b
	}
	out := &Mask{Each: Merge(a.Each, b.Each), Fields: map[string]*Mask{}}
	for name, m := range a.Fields {
		out.Fields[name] = Merge(m, b.Fields[name])
	}
	for name, m := range b.Fields {
		if _, both := a.Fields[name]; !both {
			out.Fields[name] = m
		}
	}
	return out
}

// Covers reports whether a mask keeps everything that another keeps.
func Covers(a, b *Mask) bool {
	switch {
	case b == nil || a == b:
		return true
	case a == nil:
		return false
	case a.All:
		return true
	case b.All:
		return false
	}
	for name, inner := range b.Fields {
		if !Covers(a.field(name), inner) {
			return false
		}
	}
	return Covers(a.Each, b.Each)
}

// Keep returns a copy of decoded JSON with what a mask keeps of it: what Freeze
// would make of it, as plain values.
func Keep(raw any, mask *Mask) any {
	switch v := raw.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			if under := mask.field(name); field != nil && under != nil {
				out[name] = Keep(field, under)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Keep(item, mask.item())
		}
		return out
	default:
		return raw
	}
}
