package extender

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/scan"
)

// quickly reads the answer about some pools when it is written as extenders write
// it: each field once and in lower case, names without escapes. It reports false for
// any other answer, which decode reads or refuses.
func quickly(body []byte, asked []pool) ([]expr.Verdict, bool) {
	r := quickReader{Scanner: scan.Scanner{Data: body}, places: placesPool.Get().(*places), left: 4*len(asked) + spare}
	defer placesPool.Put(r.places)
	r.places.of(asked)
	r.verdicts = make([]expr.Verdict, len(asked))
	found := false
	err := r.Object(func(key []byte) error {
		switch string(key) {
		case "lvgs":
			if found || r.Peek() != '[' {
				return errUnusual
			}
			found = true
			return r.List(r.entry)
		case "error":
			return r.Skip()
		}
		return errUnusual
	})
	if err != nil || !found || r.Peek() != 0 || r.At != len(body) {
		return nil, false
	}
	r.places.repeat(r.verdicts)
	return r.verdicts, true
}

// errUnusual says that an answer is not written as usual.
var errUnusual = fail(ClassDecode, "the answer is written in an unusual way")

// quickReader reads the entries of an answer.
type quickReader struct {
	scan.Scanner
	places   *places
	verdicts []expr.Verdict
	// left is how many entries there may be.
	left int
}

// entry reads an entry. The first of several about one pool is used.
func (r *quickReader) entry() error {
	var name, thin []byte
	var score int64
	fields := 0
	if r.left--; r.left < 0 {
		return errUnusual
	}
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
	if at := r.places.find(name, thin); at >= 0 && !r.places.seen[at] {
		r.places.seen[at] = true
		if score > 0 {
			r.verdicts[at] = expr.Verdict{Keep: true, Score: score}
		}
	}
	return nil
}

// plain takes a string without escapes.
func (r *quickReader) plain() ([]byte, error) {
	raw, plain, err := r.Text()
	if err == nil && !plain {
		err = errUnusual
	}
	return raw, err
}

// whole takes a whole number that is written in digits, without zeros before it.
func (r *quickReader) whole() (int64, error) {
	r.Peek()
	negative := r.At < len(r.Data) && r.Data[r.At] == '-'
	if negative {
		r.At++
	}
	n, digits := int64(0), 0
	for ; r.At < len(r.Data); r.At++ {
		c := r.Data[r.At]
		if c < '0' || c > '9' {
			break
		}
		n, digits = 10*n+int64(c-'0'), digits+1
		if digits > maxDigits || n == 0 && digits > 1 {
			return 0, errUnusual
		}
	}
	if c := r.Peek(); digits == 0 || n < 10 && digits > 1 || c != ',' && c != '}' {
		return 0, errUnusual
	}
	if negative {
		n = -n
	}
	return n, nil
}

// maxDigits is how many digits fit into 64 bits, whatever they are.
const maxDigits = 18

// places finds pools by their names.
type places struct {
	pools []pool
	// table has one more than the place of a pool, by the hash of its name; 0 is free.
	table []int32
	// repeated are the places of pools that were asked about before, with the first
	// place of each.
	repeated [][2]int32
	// seen are the pools that the answer has named.
	seen []bool
}

// placesPool has places for the next answers: they are as large as the requests.
var placesPool = sync.Pool{New: func() any { return &places{} }}

var seed = maphash.MakeSeed()

// of sets which pools are found.
func (p *places) of(pools []pool) {
	size := 16
	for size < 2*len(pools) {
		size *= 2
	}
	p.pools, p.repeated = pools, p.repeated[:0]
	p.table, p.seen = slices.Grow(p.table[:0], size)[:size], slices.Grow(p.seen[:0], len(pools))[:len(pools)]
	clear(p.table)
	clear(p.seen)
	for i := range pools {
		at := int(maphash.String(seed, pools[i].Name)) & (size - 1)
		for p.table[at] != 0 && pools[p.table[at]-1] != pools[i] {
			at = (at + 1) & (size - 1)
		}
		if first := p.table[at]; first != 0 {
			p.repeated = append(p.repeated, [2]int32{int32(i), first - 1})
			continue
		}
		p.table[at] = int32(i) + 1
	}
}

// find returns the place of a pool; -1 for one that was not asked about.
func (p *places) find(name, thin []byte) int {
	mask := len(p.table) - 1
	for at := int(maphash.Bytes(seed, name)) & mask; p.table[at] != 0; at = (at + 1) & mask {
		if i := int(p.table[at] - 1); p.pools[i].Name == string(name) && p.pools[i].ThinPool == string(thin) {
			return i
		}
	}
	return -1
}

// repeat gives the pools that were asked about several times the same verdict.
func (p *places) repeat(verdicts []expr.Verdict) {
	for _, r := range p.repeated {
		verdicts[r[0]] = verdicts[r[1]]
	}
}
