package value

import (
	"hash/maphash"

	"github.com/edict-dev/edict/engine/schema"
)

// texts says which JSON the items of a list were decoded from, by its length and its
// hash. An item whose text is there again is not decoded again. The hash has a seed of
// its own in every process, so that nobody can choose two texts with the same.
type texts struct {
	// t and mask are what the items were decoded with.
	t    *schema.Type
	mask *Mask
	// of is nil where it is not known what the items were decoded from.
	of []itemText
	// lookups are those of texts that are items.
	lookups lookups
}

type itemText struct {
	hash uint64
	size int
}

// manyItems is from how many items on a list keeps their texts, and longItem from how
// many bytes on a text is worth it.
const (
	manyItems = 16
	longItem  = 24
)

var textSeed = maphash.MakeSeed()

// span is where an item of a list that is being decoded stands in the text, with the
// hash of that if it is known; 0 if not.
type span struct {
	from, to int
	hash     uint64
}

// textsOf keeps what the items of a list were decoded from; nil for few of them.
func (d *decoder) textsOf(spans []span, at *spot) *texts {
	if len(spans) < manyItems || spans[0].to-spans[0].from < longItem {
		return nil
	}
	out := &texts{t: at.t, mask: at.mask, of: make([]itemText, len(spans))}
	for i, s := range spans {
		if s.hash == 0 {
			s.hash = maphash.Bytes(textSeed, d.Data[s.from:s.to])
		}
		out.of[i] = itemText{s.hash, s.to - s.from}
	}
	return out
}

// again finds items of a list that have the same texts as before.
type again struct {
	before *List
	// shift is how many items were left out since, less those that are new.
	shift int
}

// at returns the item that item n may be like.
func (a *again) at(n int) Value {
	if a.before == nil || n+a.shift < 0 || n+a.shift >= len(a.before.items) {
		return nil
	}
	return a.before.items[n+a.shift]
}

// decoded returns what the items of a list were decoded from; nil if that is not known.
func (l *List) decoded() *texts {
	if l == nil {
		return nil
	}
	if known := l.texts.Load(); known != nil && known.of != nil {
		return known
	}
	return nil
}

// shifts are tried in turns where an item is another than expected.
var shifts = [...]int{0, 1, -1}

// again returns the item of the list from before with the text at this place, which is
// where item n begins, and the hash of that, and passes over it; nil for none.
func (d *decoder) again(a *again, n int, items *spot) (Value, uint64) {
	before := a.before.decoded()
	if before == nil || before.t != items.t || before.mask != items.mask {
		return nil, 0
	}
	for _, shift := range shifts {
		at := n + a.shift + shift
		if at >= 0 && at < len(a.before.items) && d.stands(before.of[at]) {
			a.shift += shift
			d.At += before.of[at].size
			return a.before.items[at], before.of[at].hash
		}
	}
	return nil, 0
}

// endsItem are the characters that may stand behind an item of a list.
var endsItem = [256]bool{',': true, ']': true, ' ': true, '\t': true, '\n': true, '\r': true}

// stands reports whether a text stands at this place, as an item of a list.
func (d *decoder) stands(text itemText) bool {
	end := d.At + text.size
	return end < len(d.Data) && endsItem[d.Data[end]] && maphash.Bytes(textSeed, d.Data[d.At:end]) == text.hash
}
