package value

import (
	"sync"

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
	d.root = spotOf(t, mask)
	out, err := d.value(&d.root, known{before, like})
	if err == nil && d.Peek() != 0 {
		return nil, d.Wrong("the end")
	}
	return out, err
}

// decoders are those that are not in use.
var decoders = sync.Pool{New: func() any { return &decoder{plans: map[planKey]*plan{}} }}

// maxPlans is how many plans a decoder keeps for the next text.
const maxPlans = 256

// decoder makes values of JSON.
type decoder struct {
	scan.Scanner
	root  spot
	plans map[planKey]*plan
	// entries are those of the objects under way, items those of the lists and of the
	// objects that are as foreseen, and spans where the items of lists stand.
	entries []field
	items   []Value
	spans   []span
	bulk    bulk
}

// free gives the decoder back. It keeps nothing of what it has decoded.
func (d *decoder) free() {
	d.Scanner, d.root = scan.Scanner{}, spot{}
	clear(d.entries[:cap(d.entries)])
	clear(d.items[:cap(d.items)])
	d.entries, d.items, d.spans = d.entries[:0], d.items[:0], d.spans[:0]
	d.bulk.end()
	if len(d.plans) > maxPlans {
		clear(d.plans)
	}
	decoders.Put(d)
}

// known are values that may stand in a text again.
type known struct {
	// before is the value that stood here, like one that may have the same fields.
	before, like Value
}

// spot is what is known of the values that stand at a place of the texts.
type spot struct {
	t    *schema.Type
	mask *Mask
	// time is whether a text is read as a time.
	time bool
	// last is the plan of the last object here, each the spot of the items of lists; nil
	// for none yet.
	last *plan
	each *spot
	// fresh counts the texts in a row that were not among the last.
	fresh uint
}

func spotOf(t *schema.Type, mask *Mask) spot {
	return spot{t: t, mask: mask, time: t != nil && t.Kind == schema.Time}
}

// field returns the spot of a field.
func (at *spot) field(name string) spot {
	t := at.t.Field(name)
	out := spotOf(t, at.mask.field(name))
	out.time = out.time || t != nil && t.Guess && isTimeName(name)
	return out
}

// item returns the spot of the items of lists.
func (at *spot) item() *spot {
	if at.each == nil {
		each := spotOf(at.t.Item(), at.mask.item())
		at.each = &each
	}
	return at.each
}

// value decodes a value; nil is null in an object.
func (d *decoder) value(at *spot, was known) (Value, error) {
	switch c := d.Peek(); c {
	case '{':
		return d.object(at, was)
	case '[':
		return d.list(at, was)
	case '"':
		return d.string(at, was)
	case 't':
		return types.True, d.Word("true")
	case 'f':
		return types.False, d.Word("false")
	case 'n':
		return types.NullValue, d.Word("null")
	default:
		return d.digits(at, was.before)
	}
}
