package eval

import "slices"

// texts is a set of texts: they are sorted.
type texts []string

// textsOf returns the set of the texts in a list, which is not changed.
func textsOf(list []string) texts {
	if list == nil {
		return texts{} // not nil, which is no set at all
	}
	if !slices.IsSorted(list) {
		list = slices.Clone(list)
		slices.Sort(list)
	}
	return list
}

func (t texts) has(text string) bool {
	_, found := slices.BinarySearch(t, text)
	return found
}
