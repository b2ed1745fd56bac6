package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// maxWeight is where weighing stops to count.
const maxWeight = 1 << 40

// scale weighs terms: how many nodes they have when they are written out, long
// texts counting as one for each bytesPerNode. Each
// composite is visited once, however often others hold it: thirty lists, each
// holding the one before twice, have a billion nodes and are weighed in thirty
// steps.
type scale struct {
	known map[ast.Value]int
	// visited counts what was looked at.
	visited int
}

func (s *scale) weigh(t *ast.Term) int {
	s.visited++
	switch v := t.Value.(type) {
	case ast.String:
		return 1 + len(v)/bytesPerNode
	case ast.Number:
		return 1 + len(v)/bytesPerNode
	case *ast.Array:
		return s.composite(t.Value, v.Len(), v.Foreach)
	case ast.Set:
		return s.composite(t.Value, v.Len(), v.Foreach)
	case ast.Object:
		return s.composite(t.Value, v.Len(), func(add func(*ast.Term)) {
			v.Foreach(func(key, item *ast.Term) {
				if len(text(key)) >= bytesPerNode || !ast.IsScalar(key.Value) { // a short name counts with its field
					add(key)
				}
				add(item)
			})
		})
	}
	return 1
}

func (s *scale) composite(v ast.Value, size int, each func(func(*ast.Term))) int {
	if size == 0 {
		return 1
	}
	if weight, ok := s.known[v]; ok {
		return weight
	}
	sum := 1
	each(func(t *ast.Term) { sum = min(sum+s.weigh(t), maxWeight) })
	if s.known == nil {
		s.known = map[ast.Value]int{}
	}
	s.known[v] = sum
	return sum
}
