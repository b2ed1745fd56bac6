package writer

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/value"
)

// essence is the hash of a patch without what differs each time: times and counters.
// Two patches of one hash are taken for the same; that they are not costs no more than
// a look at the object.
func essence(body *value.Map) uint64 {
	var h hash
	h.SetSeed(seed)
	h.value(body)
	return h.Sum64()
}

var seed = maphash.MakeSeed()

type hash struct{ maphash.Hash }

// The parts of a patch, as they are told apart.
const (
	anObject byte = iota
	aList
	aText
	aNumber
	isNull
	isTrue
	isFalse
)

func (h *hash) value(v value.Value) {
	switch v := value.Unwrap(v).(type) {
	case *value.Map:
		h.begin(anObject, v.Len())
		for i := range v.Len() {
			name, field := v.At(i)
			h.text(name)
			h.value(field)
		}
	case *value.List:
		h.begin(aList, v.Len())
		for _, item := range v.Items() {
			h.value(item)
		}
	case types.String:
		if isTime(string(v)) {
			v = ""
		}
		h.text(string(v))
	case types.Bytes:
		h.text(string(v))
	case types.Timestamp:
		h.text("")
	default:
		h.begin(scalar(v), 0)
	}
}

func scalar(v value.Value) byte {
	switch {
	case value.IsNull(v):
		return isNull
	case v == types.True:
		return isTrue
	case v == types.False:
		return isFalse
	}
	return aNumber
}

func (h *hash) begin(what byte, n int) {
	head := binary.BigEndian.AppendUint64([]byte{what}, uint64(n))
	_, _ = h.Write(head)
}

func (h *hash) text(s string) {
	h.begin(aText, len(s))
	_, _ = h.WriteString(s)
}

// isTime reports whether a text is a time. Most texts are too short, or have a letter
// where a time has a dash.
func isTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05") || s[4] != '-' {
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}
