package simulate

// bounds end a simulation that never comes to rest. Both grow with the number of keys:
// a large world that does come to rest must not be taken for one that does not.
type bounds struct {
	// minPasses and minWrites are for few keys.
	minPasses, minWrites int
	// passesPerKey bounds the evaluations at one instant, in which nothing need be
	// written, writesPerKey the writes of a simulation: all of them are kept.
	passesPerKey, writesPerKey int
}

var defaultBounds = bounds{minPasses: 100_000, minWrites: 200_000, passesPerKey: 100, writesPerKey: 20}

// maxWritten is how many evaluations of one key may write while nothing else happens: no
// entry of a timeline, and no deadline.
const maxWritten = 1000

// MaxKept bounds what a simulation keeps of what it did, in bytes, unless Options say
// otherwise: writes, calls and errors. The objects are made of these writes, so that they
// are bounded as well. Policies that create objects which they decide about have ever
// more keys, so that bounds which grow with the number of keys do not end them.
const MaxKept = 1 << 30

// Bytes that are counted for what is kept: an entry of a list of the result, a value and
// a field or item, apart from texts.
const (
	entryBytes = 256
	valueBytes = 16
	fieldBytes = 48
)

// Size estimates how many bytes a plain value takes in memory.
func Size(v any) int {
	n := valueBytes
	switch v := v.(type) {
	case string:
		n += len(v)
	case map[string]any:
		for k, field := range v {
			n += fieldBytes + len(k) + Size(field)
		}
	case []any:
		for _, item := range v {
			n += Size(item)
		}
	}
	return n
}

func (b bounds) passes(keys int) int { return max(b.minPasses, b.passesPerKey*keys) }

func (b bounds) writes(keys int) int { return max(b.minWrites, b.writesPerKey*keys) }
