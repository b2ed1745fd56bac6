package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Shorten leaves entries off the ends of the longest lists, until the document takes
// at most so many bytes as JSON, and notes in LeftOff how many. The winner of a
// selection stays, and so do the candidates of the name about. It reports whether
// that was enough.
func (d *Document) Shorten(most int, about string) bool {
	size := sizeOf(d)
	if size <= most {
		return true
	}
	lists := d.shortLists(about)
	for i := range lists {
		size -= lists[i].size()
	}
	share := shareOf(lists, most-size-leftOffSize)
	left := map[string]int{}
	for i := range lists {
		if n := lists[i].shorten(share); n > 0 {
			left[lists[i].name] += n
		}
	}
	for name, n := range left {
		d.LeftOff = append(d.LeftOff, LeftOffDocument{List: name, Count: n})
	}
	slices.SortFunc(d.LeftOff, func(a, b LeftOffDocument) int { return strings.Compare(a.List, b.List) })
	return sizeOf(d) <= most
}

// leftOffSize is what LeftOff takes at most, in bytes: its lists have fixed names.
const leftOffSize = 1024

func sizeOf(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0 // cannot be: a document is plain data
	}
	return len(text)
}

// shortList is a list that may be shortened.
type shortList struct {
	name string
	// sizes are those of the entries, in bytes; stays are the entries that are not
	// left off.
	sizes []int
	stays func(entry int) bool
	// keep keeps the entries for which the argument is true.
	keep func(entries []bool)
}

func (l *shortList) size() (out int) {
	for _, n := range l.sizes {
		out += n
	}
	return out
}

// shorten keeps as many entries as fit into so many bytes, the first ones, and returns
// how many it left off.
func (l *shortList) shorten(most int) (left int) {
	if l.size() <= most {
		return 0
	}
	kept := make([]bool, len(l.sizes))
	for i, n := range l.sizes {
		if kept[i] = l.stays(i); kept[i] {
			most -= n
		}
	}
	for i, n := range l.sizes {
		if kept[i] {
			continue
		}
		if most -= n; most < 0 {
			most = 0 // what follows is left off, even if it would fit
			left++
			continue
		}
		kept[i] = true
	}
	l.keep(kept)
	return left
}

// shareOf returns how many bytes each list may have at most, so that all of them
// together have at most so many: short lists stay whole.
func shareOf(lists []shortList, most int) int {
	sizes := make([]int, len(lists))
	for i := range lists {
		sizes[i] = lists[i].size()
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if share := max(0, most) / (len(sizes) - i); size > share {
			return share
		}
		most -= size
	}
	return most
}

// shortLists returns the lists of a document that may be shortened. Rules and
// selections are as many as the policy has, or as it ran for items.
func (d *Document) shortLists(about string) []shortList {
	out := []shortList{
		shortListOf("wokenBy", &d.WokenBy), shortListOf("reads", &d.Reads), shortListOf("variables", &d.Variables), shortListOf("calls", &d.Calls),
		shortListOf("effects", &d.Effects), shortListOf("lists", &d.Lists), shortListOf("deadlines", &d.Deadlines),
	}
	for i := range d.Rules {
		out = append(out, shortListOf("rules.items", &d.Rules[i].Items))
	}
	for i := range d.Selections {
		out = append(out, d.Selections[i].shortList(about))
	}
	return out
}

func shortListOf[T any](name string, list *[]T) shortList {
	out := shortList{name: name, stays: func(int) bool { return false }, keep: func(entries []bool) { *list = filter(*list, entries) }}
	for i := range *list {
		out.sizes = append(out.sizes, sizeOf((*list)[i])+len(","))
	}
	return out
}

func filter[T any](list []T, kept []bool) []T {
	out := []T{}
	for i := range list {
		if kept[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// shortList is that of the candidates.
func (s *SelectionDocument) shortList(about string) shortList {
	out := shortListOf("selections.candidates", &s.Candidates)
	out.stays = func(i int) bool {
		return s.Winner != nil && i == *s.Winner || about != "" && slices.Contains(slices.Collect(maps.Values(s.Candidates[i].Names)), about)
	}
	keep := out.keep
	out.keep = func(entries []bool) {
		keep(entries)
		if s.Winner == nil {
			return
		}
		place := len(filter(entries[:*s.Winner], entries))
		s.Winner = &place
	}
	return out
}
