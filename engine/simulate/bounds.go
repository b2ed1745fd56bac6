package simulate

// bounds end a simulation that never comes to rest. Both grow with the number of keys:
// a large world that does come to rest must not be taken for one that does not.
type bounds struct {
	// minPasses and minWrites are for few keys.
	minPasses, minWrites int
	// passesPerKey bounds the evaluations at one instant, in which nothing need be
	// written, writesPerKey the writes of a simulation: all of them are kept.
	passesPerKey, writesPerKey int
}

var defaultBounds = bounds{minPasses: 100_000, minWrites: 200_000, passesPerKey: 100, writesPerKey: 20}

func (b bounds) passes(keys int) int { return max(b.minPasses, b.passesPerKey*keys) }

func (b bounds) writes(keys int) int { return max(b.minWrites, b.writesPerKey*keys) }

// keys counts the keys that the controllers decide about.
func (s *Simulation) keys() (n int) {
	for _, c := range s.controllers {
		n += c.Count()
	}
	return n
}
