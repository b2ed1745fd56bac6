package watch

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// maxReadings bounds what is kept of how far decisions got.
const maxReadings = 1024

// Decided records how far the last decision about a key got: of an object that an
// input gets by its name, only what such a decision may have read wakes the key from
// now on. unknown is a decision of which that cannot be told: everything that the policy
// reads wakes the key. It returns the inputs of which more wakes the key than before.
func (r *Router) Decided(key eval.Key, to eval.Progress, unknown bool) (more []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.single {
		return nil
	}
	_, known := r.primaries[key]
	for i, mask := range r.reading(to) {
		reads := r.inputs[i].reads
		was := reads[key]
		switch {
		case mask == nil || was == mask && !unknown:
		case unknown || !known:
			delete(reads, key)
			if was != nil {
				more = append(more, i)
			}
		default:
			reads[key] = mask
			if was != nil && !value.Covers(was, mask) {
				more = append(more, i)
			}
		}
	}
	return more
}

// reading returns what decisions that got so far read of each input of one object; nil
// for other inputs.
func (r *Router) reading(to eval.Progress) []*value.Mask {
	if known, ok := r.readings[to]; ok {
		return known
	}
	out := r.byRule.Of(to)
	if len(r.readings) >= maxReadings {
		clear(r.readings)
	}
	r.readings[to] = out
	return out
}

// untouched reports whether a change leaves all that a mask has as it was. Many keys
// have the same mask.
func (c *change) untouched(mask *value.Mask) bool {
	if mask == nil {
		return false
	}
	same, known := c.same[mask]
	if !known {
		same = c.sameUnder(mask)
		c.same[mask] = same
	}
	return same
}
