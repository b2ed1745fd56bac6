package analyze

import (
	"github.com/edict-dev/edict/engine/expr/cel"
)

// ItemName is what a join calls the object that may be a member.
const ItemName = "item"

// Join is how an index answers a `where`: an item can only be a member for a
// key if one of the item's index keys is one of the key's probes. The index
// gives candidates; the whole expression still judges each, unless the index
// is Exact.
type Join struct {
	// Item computes the index keys of an item, Probe those of a key.
	Item, Probe *Side
	// Exact says that an index match alone makes an item a member.
	Exact bool
	// Depends says that the expression reads the key's side at all. Without
	// it the members are the same for every key.
	Depends bool
	// Named computes the keys that an item names; nil when it names none.
	Named *Naming
	// UsesName says that the expression reads key.name.
	UsesName bool
}

// conjunct is one part of a `where` that an index can answer.
type conjunct struct {
	item, probe *Side
	rank        int
}

// JoinOf finds how an index can answer a program that is a `where`. Item and
// Probe are nil when it cannot.
//
// All equalities are looked up at once, together with the most selective of the
// other parts: each item has one index key for every combination.
func JoinOf(p *cel.Program) Join {
	a := joiner{program: p, ast: p.Tree()}
	parts := Anded(a.ast.Expr())
	join := Join{UsesName: p.Names()[keyName], Depends: readsKey(p)}
	var equal []*conjunct
	var best *conjunct
	for _, part := range parts {
		if !uses(part).key {
			continue
		}
		switch c := a.conjunct(part); {
		case c == nil:
		case c.rank == rankEqual:
			equal = append(equal, c)
		case best == nil || c.rank < best.rank:
			best = c
		}
	}
	join.use(equal, best, len(parts))
	join.Named = a.naming(parts)
	return join
}

// use makes one index of the parts that are looked up.
func (join *Join) use(equal []*conjunct, best *conjunct, parts int) {
	used := equal
	if best != nil {
		used = append(used, best)
	}
	if len(used) == 0 {
		return
	}
	items, probes := make([]*Side, len(used)), make([]*Side, len(used))
	for i, c := range used {
		items[i], probes[i] = c.item, c.probe
	}
	join.Item, join.Probe = combined(items), combined(probes)
	join.Exact = len(used) == parts && (best == nil || best.rank < rankPartial)
}

// The ranks of indexes, the most selective first.
const (
	rankEqual = iota
	rankExists
	rankMember
	rankPartial // an exists of which only a part can be looked up
	rankSelector
)

func newConjunct(item, probe *Side, rank int) *conjunct {
	if item == nil || probe == nil {
		return nil
	}
	return &conjunct{item: item, probe: probe, rank: rank}
}
