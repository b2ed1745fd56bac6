package extender

import "github.com/edict-dev/edict/engine/expr"

// expected reads entries for as long as they are written as requests name the pools, in
// the order that is guessed, and reports whether an entry would still be the first.
// Answers about many pools are mostly such entries, so that this is one loop.
func (r *reader) expected(first bool) bool {
	c, n, g, row := r.question.catalog, r.notes, &r.guess, r.guess.next
	for row >= 0 && r.left > 0 {
		at := r.At
		if !first && !r.byteAt(at, ',') {
			break
		} else if !first {
			at++
		}
		name := c.name(row)
		digits := at + len(name) + len(scoreKey)
		if digits >= len(r.Data) || string(r.Data[at:at+len(name)]) != string(name) || string(r.Data[digits-len(scoreKey):digits]) != string(scoreKey) {
			break
		}
		score, size := digitsAt(r.Data, digits)
		if size == 0 || !r.byteAt(digits+size, '}') {
			break
		}
		r.At, first = digits+size+1, false
		r.left--
		n.came = append(n.came, int32(row))
		if place := n.at(r.question, row); !n.seen[place] {
			n.seen[place] = true
			if score > 0 {
				r.verdicts[place] = expr.Kept(score)
			}
		}
		row = g.following(row)
	}
	g.next = row
	return first
}

func (r *reader) byteAt(at int, c byte) bool { return at < len(r.Data) && r.Data[at] == c }
