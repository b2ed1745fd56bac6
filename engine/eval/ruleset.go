package eval

// RuleSet is a set of rules of one policy, by their places: at most 256.
type RuleSet [4]uint64

// Add puts a rule in.
func (s *RuleSet) Add(rule int) { s[rule/64] |= 1 << (rule % 64) }

// Meets reports whether two sets have a rule in common.
func (s RuleSet) Meets(other RuleSet) bool {
	for i := range s {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// Has reports whether a rule is in the set.
func (s RuleSet) Has(rule int) bool { return s[rule/64]&(1<<(rule%64)) != 0 }
