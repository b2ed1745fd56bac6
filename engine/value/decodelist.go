package value

import "slices"

func (d *decoder) list(at spot) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	before, _ := at.before.(*List)
	items, spans := len(d.items), len(d.spans)
	inner := spot{t: at.t.Item(), mask: at.mask.item()}
	like, _ := at.like.(*List)
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
		if like != nil && n < min(len(like.items), manyItems) {
			inner.like = like.items[n]
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
	v, hash := d.again(last, n, *inner)
	if v == nil {
		inner.before = last.at(n)
		if v, err = d.value(*inner); err != nil {
			return err
		}
	}
	if _, object := v.(*Map); object {
		inner.like = v
	}
	d.items, d.spans = append(d.items, v), append(d.spans, span{from, d.At, hash})
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
