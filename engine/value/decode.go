package value

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/scan"
	"github.com/edict-dev/edict/engine/schema"
)

// Decode makes of JSON what Freeze makes of decoded JSON, without decoding what the
// mask does not keep. Parts that are as they were before are those from before, which
// may be nil: of an object in which little has changed, little is made.
func Decode(data []byte, t *schema.Type, mask *Mask, before Value) (Value, error) {
	d := decoders.Get().(*decoder)
	defer d.free()
	d.Scanner = scan.Scanner{Data: data}
	out, err := d.value(spot{t: t, mask: mask, before: before})
	if err == nil && d.Peek() != 0 {
		err = d.Wrong("the end")
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// decoders are those that are not in use.
var decoders = sync.Pool{New: func() any { return &decoder{plans: map[planKey]*plan{}} }}

// maxPlans is how many plans a decoder keeps for the next text.
const maxPlans = 256

// decoder makes values of JSON.
type decoder struct {
	scan.Scanner
	plans map[planKey]*plan
	// entries are those of the objects under way, items those of the lists, and spans
	// where these stand.
	entries []field
	items   []Value
	spans   []span
	bulk    bulk
}

// free gives the decoder back. It keeps nothing of what it has decoded.
func (d *decoder) free() {
	d.Scanner = scan.Scanner{}
	clear(d.entries[:cap(d.entries)])
	clear(d.items[:cap(d.items)])
	d.entries, d.items, d.spans = d.entries[:0], d.items[:0], d.spans[:0]
	d.bulk.end()
	if len(d.plans) > maxPlans {
		clear(d.plans)
	}
	decoders.Put(d)
}

// field is a field of an object that is being decoded. place is where its name
// stands in the plan; -1 if it does not.
type field struct {
	place int
	name  string
	value Value
}

// spot is what is known of a value before it is decoded.
type spot struct {
	t        *schema.Type
	mask     *Mask
	timeName bool
	// before is the value that stood here, like one that may have the same fields.
	before, like Value
}

// plan is what the fields of objects of a shape are decoded with.
type plan struct {
	shape *shape
	names []string
	spots []spot
}

type planKey struct {
	shape *shape
	mask  *Mask
	t     *schema.Type
}

func (d *decoder) plan(s *shape, at spot) *plan {
	key := planKey{s, at.mask, at.t}
	if known, ok := d.plans[key]; ok {
		return known
	}
	p := &plan{shape: s, names: s.keys, spots: make([]spot, len(s.keys))}
	for i, name := range s.keys {
		p.spots[i] = at.field(name)
	}
	d.plans[key] = p
	return p
}

// field returns the spot of a field.
func (at spot) field(name string) spot {
	t := at.t.Field(name)
	return spot{t: t, mask: at.mask.field(name), timeName: t != nil && t.Guess && isTimeName(name)}
}

// value decodes a value; nil is null in an object.
func (d *decoder) value(at spot) (Value, error) {
	switch c := d.Peek(); c {
	case '{':
		return d.object(at)
	case '[':
		return d.list(at)
	case '"':
		return d.string(at)
	case 't':
		return types.True, d.Word("true")
	case 'f':
		return types.False, d.Word("false")
	case 'n':
		return types.NullValue, d.Word("null")
	default:
		return d.digits(at)
	}
}

func (d *decoder) string(at spot) (Value, error) {
	raw, plain, err := d.Text()
	if err != nil {
		return nil, err
	}
	if was, ok := at.before.(types.String); ok && plain && string(was) == string(raw) && !at.timeName {
		return at.before, nil
	}
	if was, ok := at.before.(types.Timestamp); ok && at.holdsTime() && isText(was, raw) {
		return at.before, nil
	}
	if plain && !at.holdsTime() {
		return d.bulk.string(raw), nil
	}
	text, err := scan.Unquote(raw, plain)
	if err != nil {
		return nil, err
	}
	out := freezeString(text, at.t, at.timeName)
	if now, ok := out.(types.Timestamp); ok {
		if was, ok := at.before.(types.Timestamp); ok && was.Time.Equal(now.Time) {
			return at.before, nil
		}
	}
	return out, nil
}

// holdsTime reports whether a text here is read as a time.
func (at spot) holdsTime() bool { return at.timeName || at.t != nil && at.t.Kind == schema.Time }

// isText reports whether a text is that of a time, as the API server writes it, of a
// field that held this time before.
func isText(was types.Timestamp, raw []byte) bool {
	var text [len(time.RFC3339) + len("-10000")]byte
	return string(was.AppendFormat(text[:0], time.RFC3339)) == string(raw)
}

func (d *decoder) digits(at spot) (Value, error) {
	whole, fraction, isWhole, err := d.Number()
	if err != nil {
		return nil, err
	}
	out := Value(nil)
	if isWhole {
		out = integer(whole, at.t)
	} else {
		out = freezeNumber(fraction, at.t)
	}
	if at.before != nil && at.before == out {
		return at.before, nil
	}
	return out, nil
}

func (d *decoder) list(at spot) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	before, _ := at.before.(*List)
	items, spans := len(d.items), len(d.spans)
	inner := spot{t: at.t.Item(), mask: at.mask.item()}
	if like, ok := at.like.(*List); ok && len(like.items) > 0 {
		inner.like = like.items[0]
	}
	last := again{before: before}
	for n := 0; ; n++ {
		more, err := d.More(n == 0, ']')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if n == manyItems {
			d.bulk.depth++
		}
		if err := d.item(&last, n, &inner); err != nil {
			return nil, err
		}
	}
	d.Leave()
	if len(d.items)-items > manyItems {
		d.bulk.depth--
	}
	out := d.listOf(before, d.items[items:], d.spans[spans:], inner)
	d.items, d.spans = d.items[:items], d.spans[:spans]
	return out, nil
}

// item decodes item n of a list.
func (d *decoder) item(last *again, n int, inner *spot) (err error) {
	d.Peek()
	from := d.At
	v := d.again(last, n, *inner)
	if v == nil {
		inner.before = last.at(n)
		if v, err = d.value(*inner); err != nil {
			return err
		}
	}
	if _, object := v.(*Map); object {
		inner.like = v
	}
	d.items, d.spans = append(d.items, v), append(d.spans, span{from, d.At})
	return nil
}

// listOf makes a list of its items. It is the one from before if they are the same.
func (d *decoder) listOf(before *List, items []Value, spans []span, inner spot) *List {
	if before != nil && sameItems(before.items, items) {
		return before
	}
	deep, own := HolderBytes, d.bulk.values(len(items))
	for i, v := range items {
		own[i] = v
		deep += Deep(v)
	}
	return &List{items: own, sizes: partSizes(deep), texts: d.textsOf(spans, inner)}
}

// sameItems reports whether two lists have the very same items.
func sameItems(a, b []Value) bool {
	return slices.EqualFunc(a, b, func(x, y Value) bool { return x == y })
}

func (d *decoder) object(at spot) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	before, like := mapOf(at.before), mapOf(at.like)
	hint := before
	if hint == nil {
		hint = like
	}
	var p *plan
	if hint != nil && hint.shape != nil {
		p = d.plan(hint.shape, at)
	}
	base := len(d.entries)
	for n := 0; ; n++ {
		more, err := d.More(n == 0, '}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := d.field(at, p, before, like, base, n); err != nil {
			return nil, err
		}
	}
	d.Leave()
	fields := d.entries[base:]
	d.entries = d.entries[:base]
	return d.finish(fields, p, hint, before), nil
}

func mapOf(v Value) *Map {
	m, _ := v.(*Map)
	return m
}

// field decodes a field, unless nobody asks for it.
func (d *decoder) field(at spot, p *plan, before, like *Map, base, n int) error {
	raw, plain, err := d.Key()
	if err != nil {
		return err
	}
	place, inner, name := p.find(raw, n), spot{}, ""
	switch {
	case place >= 0:
		name, inner = p.names[place], p.spots[place]
	case plain && !at.mask.keeps(raw):
		return d.Skip()
	default:
		if name, err = scan.Unquote(raw, plain); err != nil {
			return err
		}
		inner = at.field(name)
	}
	if inner.mask == nil {
		return d.Skip()
	}
	inner.before, inner.like = p.value(before, place, name), p.value(like, place, name)
	v, err := d.value(inner)
	switch {
	case err != nil:
		return err
	case v == Value(types.NullValue): // counts as absent, also after a value of the same name
		d.entries = append(d.entries[:base], slices.DeleteFunc(d.entries[base:], func(f field) bool { return f.name == name })...)
		return nil
	}
	d.entries = append(d.entries, field{place, name, v})
	return nil
}

// find returns where a name stands in a plan, or -1. Names come mostly in the order
// of the plan: guess is where it is looked for first.
func (p *plan) find(raw []byte, guess int) int {
	if p == nil {
		return -1
	}
	if guess < len(p.names) && p.names[guess] == string(raw) {
		return guess
	}
	for i := range p.names {
		if p.names[i] == string(raw) {
			return i
		}
	}
	return -1
}

// value returns the field of an object that stands at a place of the plan, if it
// does.
func (p *plan) value(of *Map, place int, name string) Value {
	switch {
	case of == nil:
		return nil
	case place >= 0 && of.shape == p.shape:
		return of.vals[place]
	}
	return of.Lookup(name)
}

// finish makes an object of its fields.
func (d *decoder) finish(fields []field, p *plan, hint, before *Map) Value {
	if len(fields) == 0 {
		if before != nil && before.Len() == 0 {
			return before
		}
		return Empty
	}
	if p != nil && len(fields) == len(p.names) {
		if m := d.planned(fields, hint, before); m != nil {
			return m
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	keys, vals, deep := make([]string, 0, len(fields)), make([]Value, 0, len(fields)), HolderBytes
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].name == f.name {
			continue // the last of a name counts
		}
		keys, vals = append(keys, f.name), append(vals, f.value)
		deep += ScalarBytes + len(f.name) + Deep(f.value)
	}
	if before != nil && slices.Equal(keys, before.keys()) && sameItems(vals, before.vals) {
		return before
	}
	return &Map{shape: shapeOf(keys), vals: vals, sizes: partSizes(deep)}
}

// planned makes an object with the very fields of another; nil if it has not all of
// them. It is the one from before if they are the same, too.
func (d *decoder) planned(fields []field, hint, before *Map) Value {
	same, seen := before != nil, uint64(0)
	for i, f := range fields {
		if f.place < 0 || len(fields) > 64 && f.place != i || len(fields) <= 64 && seen&(1<<f.place) != 0 {
			return nil
		}
		seen |= 1 << (f.place % 64)
		same = same && before.vals[f.place] == f.value
	}
	if same {
		return before
	}
	vals, deep := d.bulk.values(len(fields)), HolderBytes
	for _, f := range fields {
		vals[f.place] = f.value
		deep += ScalarBytes + len(f.name) + Deep(f.value)
	}
	m := d.bulk.object()
	*m = Map{shape: hint.shape, vals: vals, sizes: partSizes(deep)}
	return m
}
