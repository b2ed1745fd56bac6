package scorer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// answer is an answer, and where in it each group of its request is.
type answer struct {
	text []byte
	// entries is the text up to its end, with a comma behind each entry.
	entries []byte
	// groups are those of the request, in its order, and entered those with an entry, in
	// the order of these.
	groups  []group
	entered []*group
}

// group is what a request says of a group, with a comma behind it, and the entry about
// it in the answer.
type group struct {
	said     []byte
	at, size int
	score    int
	missing  bool
}

// newAnswer returns the answer about groups, the highest score first.
func newAnswer(request []byte) *answer {
	a := &answer{}
	for more := true; more; {
		var said []byte
		said, request, more = bytes.Cut(request, []byte("}"))
		if said = bytes.TrimPrefix(said, []byte(",")); !bytes.HasPrefix(said, []byte(`{"name":"`)) {
			break
		}
		name, _, _ := strings.Cut(string(said[len(`{"name":"`):]), `"`)
		a.groups = append(a.groups, group{said: fmt.Appendf(nil, "%s},", said), score: scoreOf(name)})
	}
	a.write()
	return a
}

func (a *answer) write() {
	for i := range a.groups {
		if a.groups[i].score > 0 {
			a.entered = append(a.entered, &a.groups[i])
		}
	}
	slices.SortStableFunc(a.entered, func(x, y *group) int { return cmp.Compare(y.score, x.score) })
	a.entries = []byte(begin)
	for _, g := range a.entered {
		g.at = len(a.entries)
		a.entries = fmt.Appendf(a.entries, `%s,"score":%d},`, bytes.TrimSuffix(g.said, []byte("},")), g.score)
		g.size = len(a.entries) - g.at
	}
	a.text = end(slices.Clone(a.entries))
}

const begin = `{"lvgs":[`

func end(text []byte) []byte { return append(bytes.TrimSuffix(text, []byte(",")), "]}"...) }

// part appends the answer about some of the groups, in their order; false when there
// are others among them. Its work is part of what is measured, so it has to be little.
func (a *answer) part(request, to []byte) ([]byte, bool) {
	for i := range a.groups {
		g := &a.groups[i]
		if g.missing = !bytes.HasPrefix(request, g.said[:len(g.said)-1]); g.missing {
			continue
		}
		request = bytes.TrimPrefix(request[len(g.said)-1:], []byte(","))
	}
	if !bytes.HasPrefix(request, []byte("]")) {
		return to, false
	}
	last := 0
	for _, g := range a.entered {
		if g.missing {
			to = append(to, a.entries[last:g.at]...)
			last = g.at + g.size
		}
	}
	return end(append(to, a.entries[last:]...)), true
}
