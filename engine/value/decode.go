package value

import (
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
	return DecodeLike(data, t, mask, before, nil)
}

// DecodeLike is Decode of what may have the same fields as another value, which may be
// nil. Texts and times that stand at the same place there are not made anew: types,
// states and reasons are the same in most objects of a kind.
func DecodeLike(data []byte, t *schema.Type, mask *Mask, before, like Value) (Value, error) {
	d := decoders.Get().(*decoder)
	defer d.free()
	d.Scanner = scan.Scanner{Data: data}
	out, err := d.value(spot{t: t, mask: mask, before: before, like: like})
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
	for _, known := range [...]Value{at.before, at.like} {
		if plain && at.stands(known, raw) {
			return known, nil
		}
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

// stands reports whether a text is that of a value that is known.
func (at spot) stands(known Value, raw []byte) bool {
	switch known := known.(type) {
	case types.String:
		return string(known) == string(raw) && !at.holdsTime()
	case types.Timestamp:
		return at.holdsTime() && isText(known, raw)
	}
	return false
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
