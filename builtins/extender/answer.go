package extender

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/scan"
)

// verdicts returns what an answer says of each pool.
func (q *question) verdicts(body []byte) ([]expr.Verdict, error) {
	if verdicts, ok := q.quickly(body); ok {
		return verdicts, nil
	}
	asked := q.asked()
	scores, err := decode(body, asked)
	if err != nil {
		return nil, err
	}
	return judge(asked, scores), nil
}

// quickly reads an answer that is written as extenders write it: each field once and
// in lower case, names without escapes. It reports false for any other answer, which
// decode reads or refuses.
func (q *question) quickly(body []byte) ([]expr.Verdict, bool) {
	r := reader{Scanner: scan.Scanner{Data: body}, question: q, notes: notesPool.Get().(*notes), left: 4*q.len() + spare}
	defer notesPool.Put(r.notes)
	r.notes.begin(q)
	r.verdicts = make([]expr.Verdict, q.len())
	r.guess = newGuess(q, r.notes)
	found := false
	err := r.Object(func(key []byte) error {
		switch string(key) {
		case "lvgs":
			if found || r.Peek() != '[' {
				return errUnusual
			}
			found = true
			return r.entries()
		case "error":
			return r.Skip()
		}
		return errUnusual
	})
	if err != nil || !found || r.Peek() != 0 || r.At != len(body) {
		return nil, false
	}
	r.repeat()
	r.guess.learn()
	return r.verdicts, true
}

// errUnusual says that an answer is not written as usual.
var errUnusual = fail(ClassDecode, "the answer is written in an unusual way")

// reader reads the entries of an answer.
type reader struct {
	scan.Scanner
	question *question
	notes    *notes
	guess    guess
	verdicts []expr.Verdict
	// left is how many entries there may be.
	left int
}

// entries reads the list of entries.
func (r *reader) entries() error {
	r.At++ // the bracket
	for first := true; ; first = false {
		more, err := r.More(first, ']')
		if err != nil || !more {
			return err
		}
		if r.left--; r.left < 0 {
			return errUnusual
		}
		if r.asRequested() {
			continue
		}
		if err := r.entry(); err != nil {
			return err
		}
	}
}

// asRequested reads an entry that names its pool as the request does, so that nothing
// but the score has to be read.
func (r *reader) asRequested() bool {
	c := r.question.catalog
	entry := r.Data[r.At:]
	row := r.guess.next
	if row < 0 || !c.begins(entry, row) {
		row = c.named(entry)
	}
	if row < 0 {
		return false
	}
	at := r.At + len(c.name(row)) + len(scoreKey)
	n, digits := digitsAt(r.Data, at)
	if digits == 0 || at+digits >= len(r.Data) || r.Data[at+digits] != '}' {
		return false
	}
	r.At = at + digits + 1
	r.judge(row, n)
	return true
}

// digitsAt reads a number of up to maxDigits digits, without zeros before it.
func digitsAt(data []byte, at int) (n int64, digits int) {
	for ; at+digits < len(data); digits++ {
		c := data[at+digits] - '0'
		if c > 9 {
			break
		}
		if digits == maxDigits || n == 0 && digits > 0 {
			return 0, 0
		}
		n = 10*n + int64(c)
	}
	return n, digits
}

// maxDigits is how many digits fit into 64 bits, whatever they are.
const maxDigits = 18

// judge notes the score of a pool. The first of several entries about one is used.
func (r *reader) judge(row int, score int64) {
	r.guess.came(row)
	at := r.notes.at(r.question, row)
	if at < 0 || r.notes.seen[at] {
		return
	}
	r.notes.seen[at] = true
	if score > 0 {
		r.verdicts[at] = expr.Kept(score)
	}
}

// entry reads an entry.
func (r *reader) entry() error {
	var name, thin []byte
	var score int64
	fields := 0
	err := r.Object(func(key []byte) (err error) {
		fields++
		switch {
		case fields == 1 && string(key) == "name":
			name, err = r.plain()
		case fields == 2 && string(key) == "thinPoolName":
			thin, err = r.plain()
		case fields <= 3 && string(key) == "score":
			fields = 3
			score, err = r.whole()
		default:
			err = errUnusual
		}
		return err
	})
	if err != nil || len(name) == 0 {
		return errUnusual
	}
	if row := r.question.catalog.find(name, thin); row >= 0 {
		r.judge(row, score)
	}
	return nil
}

// plain takes a string without escapes.
func (r *reader) plain() ([]byte, error) {
	raw, plain, err := r.Text()
	if err == nil && !plain {
		err = errUnusual
	}
	return raw, err
}

// whole takes a whole number that is written in digits.
func (r *reader) whole() (int64, error) {
	negative := r.Peek() == '-'
	if negative {
		r.At++
	}
	n, digits := digitsAt(r.Data, r.At)
	r.At += digits
	if c := r.Peek(); digits == 0 || c != ',' && c != '}' {
		return 0, errUnusual
	}
	if negative {
		n = -n
	}
	return n, nil
}

// repeat gives the pools that were asked about several times the same verdict.
func (r *reader) repeat() {
	for _, again := range r.question.catalog.repeated {
		r.verdicts[again[0]] = r.verdicts[again[1]]
	}
}
