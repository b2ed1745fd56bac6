package eval

import (
	"slices"
	"time"
)

// reads are what a result was computed from, as a holder has recorded it. There are as
// many as keys have inputs and variables.
type reads struct {
	wholes  []wholeRead
	entries []entryRead
	// rare is nil for most.
	rare  *rareReads
	until time.Time
}

// rareReads are what few results are computed from.
type rareReads struct {
	mapped  []wholeRead
	recalls []recallRead
}

// take makes them what a holder has recorded.
func (k *reads) take(h *holder) {
	k.wholes, k.entries = refilled(k.wholes, h.wholes), refilled(k.entries, h.entries)
	k.until, k.rare = h.until, nil
	if len(h.mapped)+len(h.recalls) > 0 {
		k.rare = &rareReads{mapped: slices.Clone(h.mapped), recalls: slices.Clone(h.recalls)}
	}
}

func (k *reads) mapped() []wholeRead {
	if k.rare == nil {
		return nil
	}
	return k.rare.mapped
}

func (k *reads) recalls() []recallRead {
	if k.rare == nil {
		return nil
	}
	return k.rare.recalls
}

// join adds what a holder has recorded beside, and returns what of that is new.
func (k *reads) join(h *holder) (wholes []wholeRead, entries []entryRead) {
	wholes = slices.DeleteFunc(slices.Clone(h.wholes), func(w wholeRead) bool {
		return slices.ContainsFunc(k.wholes, func(known wholeRead) bool { return known.slot == w.slot })
	})
	entries = slices.DeleteFunc(slices.Clone(h.entries), func(e entryRead) bool {
		return slices.ContainsFunc(k.entries, func(known entryRead) bool { return known.key == e.key && known.slot == e.slot })
	})
	k.wholes, k.entries = append(k.wholes, wholes...), append(k.entries, entries...)
	if !h.until.IsZero() && (k.until.IsZero() || h.until.Before(k.until)) {
		k.until = h.until
	}
	if len(h.recalls) > 0 {
		k.recall(h.recalls)
	}
	return wholes, entries
}

// recall adds what was asked of the memory, unless it was before.
func (k *reads) recall(asked []recallRead) {
	all := slices.Clone(k.recalls())
	for _, one := range asked {
		if !slices.ContainsFunc(all, func(r recallRead) bool { return r.name == one.name }) {
			all = append(all, one)
		}
	}
	k.rare = &rareReads{mapped: k.mapped(), recalls: all}
}
