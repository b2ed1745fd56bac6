package verify

import "slices"

// visit is a state to go on from: by decisions, crashes and deadlines, or by changes
// from outside.
type visit struct {
	at      int
	changes bool
}

// levels is a queue of states by what they cost.
type levels struct {
	byCost [][]visit
	count  int
}

func (l *levels) add(cost int, v visit) {
	for len(l.byCost) <= cost {
		l.byCost = append(l.byCost, nil)
	}
	l.byCost[cost] = append(l.byCost[cost], v)
	l.count++
}

func (l *levels) len() int { return l.count }

// level returns the lowest cost of a state in the queue. There must be one.
func (l *levels) level() int {
	return slices.IndexFunc(l.byCost, func(list []visit) bool { return len(list) > 0 })
}

func (l *levels) next() (v visit, cost int) {
	cost = l.level()
	v = l.byCost[cost][0]
	l.byCost[cost] = l.byCost[cost][1:]
	l.count--
	return v, cost
}
