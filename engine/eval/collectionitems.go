package eval

import "github.com/edict-dev/edict/engine/value"

// was returns the old memo of an item that is computed: its own, or of one that is no
// longer there the one at its place, which may have given the same.
func (run *itemsRun) was(i, at int) *itemMemo {
	switch {
	case at >= 0:
		return &run.old.items[at]
	case i < len(run.claimed) && !run.claimed[i]:
		return &run.old.items[i]
	}
	return nil
}

// find returns the index of an item's old memo, or -1.
func (run *itemsRun) find(i int, item value.Value) int {
	if run.claimed == nil {
		return -1
	}
	if i < len(run.old.items) && !run.claimed[i] && identical(run.old.list[i], item) {
		return i
	}
	if _, text := value.Str(item); text {
		return run.search(item)
	}
	if run.from == nil {
		run.from = value.Align(run.old.list, run.next.list)
	}
	if at := int(run.from[i]); at >= 0 && !run.claimed[at] {
		return at
	}
	return -1
}

// search finds an item that is a text.
func (run *itemsRun) search(item value.Value) int {
	if run.byItem == nil {
		run.byItem = make(map[value.Value]int, len(run.old.items))
		for j, old := range run.old.list {
			if _, text := value.Str(old); text {
				run.byItem[old] = j
			}
		}
	}
	if at, ok := run.byItem[item]; ok && !run.claimed[at] {
		return at
	}
	return -1
}
