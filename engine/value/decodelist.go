package value

import "slices"

func (d *decoder) list(at *spot, was known) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	before, _ := was.before.(*List)
	like, _ := was.like.(*List)
	items, spans := len(d.items), len(d.spans)
	l := listed{at: at.item(), again: again{before: before}}
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
			d.many(d.At - d.spans[spans].from)
		}
		if like != nil && n < min(len(like.items), manyItems) {
			l.like = like.items[n]
		}
		if err := d.item(&l, n); err != nil {
			return nil, err
		}
	}
	d.Leave()
	if len(d.items)-items > manyItems {
		d.bulk.depth--
	}
	out := d.listOf(&l, d.items[items:], d.spans[spans:])
	d.items, d.spans = d.items[:items], d.spans[:spans]
	return out, nil
}

// listed is a list under way.
type listed struct {
	again
	// at is the spot of its items, like one that the next may be like.
	at   *spot
	like Value
}

// maxForeseen bounds for how many items room is made at once.
const maxForeseen = 1 << 13

// many makes room for the rest of a list of which many items were so many bytes.
func (d *decoder) many(size int) {
	rest := min((len(d.Data)-d.At)*manyItems/size, maxForeseen)
	d.items, d.spans = slices.Grow(d.items, rest), slices.Grow(d.spans, rest)
}

// item decodes item n of a list.
func (d *decoder) item(l *listed, n int) (err error) {
	d.Peek()
	from := d.At
	v, hash := d.again(&l.again, n, l.at)
	if v == nil {
		if v, err = d.value(l.at, known{l.again.at(n), l.like}); err != nil {
			return err
		}
	}
	if _, object := v.(*Map); object {
		l.like = v
	}
	d.items, d.spans = append(d.items, v), append(d.spans, span{from, d.At, hash})
	return nil
}

// listOf makes a list of its items. It is the one from before if they are the same.
func (d *decoder) listOf(l *listed, items []Value, spans []span) *List {
	if l.before != nil && sameItems(l.before.items, items) {
		return l.before
	}
	deep, own := HolderBytes, d.bulk.values(len(items))
	for i, v := range items {
		own[i] = v
		deep += Deep(v)
	}
	out := d.bulk.list()
	out.items, out.sizes = own, partSizes(deep)
	if known := d.textsOf(spans, l.at); known != nil {
		out.texts.Store(known)
	}
	return out
}

// sameItems reports whether two lists have the very same items.
func sameItems(a, b []Value) bool {
	return slices.EqualFunc(a, b, func(x, y Value) bool { return x == y })
}
