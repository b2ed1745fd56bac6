package value

// Align finds the items of a list in an older one: the place of each there, or -1. An
// item is found if it is the same object or list, not if it is equal. None is found
// twice.
func Align(old, next []Value) []int32 {
	a := alignment{old: old, taken: make([]bool, len(old))}
	out := make([]int32, len(next))
	lost := 0
	for i, item := range next {
		if out[i] = a.near(i, item); out[i] < 0 {
			lost++
		}
	}
	if lost > fewLost {
		a.search(next, out)
	}
	return out
}

// fewLost is how many items may be missing before they are looked for everywhere.
const fewLost = 64

// alignment goes through two lists from front to back.
type alignment struct {
	old   []Value
	taken []bool
	// shift is how much further back the last item stood in the old list.
	shift int
}

// near looks for an item where it stood before, and beside that place.
func (a *alignment) near(i int, item Value) int32 {
	if !isHolder(item) {
		return -1
	}
	for _, shift := range shifts {
		at := i + a.shift + shift
		if at >= 0 && at < len(a.old) && !a.taken[at] && a.old[at] == item {
			a.shift += shift
			a.taken[at] = true
			return int32(at)
		}
	}
	return -1
}

// search looks for the items that were not found, everywhere.
func (a *alignment) search(next []Value, out []int32) {
	places := make(map[Value]int32, len(a.old))
	for at, item := range a.old {
		if !a.taken[at] && isHolder(item) {
			places[item] = int32(at)
		}
	}
	for i, item := range next {
		if out[i] >= 0 || !isHolder(item) {
			continue
		}
		if at, ok := places[item]; ok {
			out[i] = at
			delete(places, item)
		}
	}
}

func isHolder(v Value) bool {
	switch v.(type) {
	case *Map, *List:
		return true
	}
	return false
}
