package value

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
)

// JSON returns a value as encoding/json writes what Plain makes of it, byte for byte.
// It fails for numbers that JSON does not have.
func JSON(v Value) ([]byte, error) {
	buffer := buffers.Get().(*[]byte)
	out, err := AppendJSON(slices.Grow((*buffer)[:0], min(Deep(v)/2, maxBuffer)), v) // few are longer than that
	text := out
	*buffer = nil
	if len(out) <= longText {
		text, *buffer = slices.Clone(out), out
	}
	buffers.Put(buffer)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// buffers are those that no text is written into.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is how many bytes a buffer has at most before it is written into, longText
// from how many on a text is not copied out of it, which would cost more than another
// buffer.
const (
	maxBuffer = 8 << 20
	longText  = 64 << 10
)

// AppendJSON appends a value as JSON writes it.
func AppendJSON(to []byte, v Value) ([]byte, error) {
	switch v := v.(type) {
	case *Map:
		return v.appendJSON(to)
	case *List:
		return v.appendJSON(to)
	case types.String:
		return AppendText(to, string(v)), nil
	case types.Bool:
		return strconv.AppendBool(to, bool(v)), nil
	case types.Int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case types.Bytes:
		to = base64.StdEncoding.AppendEncode(append(to, '"'), v)
		return append(to, '"'), nil
	case types.Timestamp:
		to = v.UTC().AppendFormat(append(to, '"'), time.RFC3339Nano)
		return append(to, '"'), nil
	default:
		text, err := json.Marshal(Plain(v))
		return append(to, text...), err
	}
}

func (m *Map) appendJSON(to []byte) (_ []byte, err error) {
	if len(m.vals) == 0 {
		return append(to, "{}"...), nil
	}
	names := m.shape.written()
	for i := range m.vals {
		to = append(to, names[i]...)
		if to, err = AppendJSON(to, m.vals[i]); err != nil {
			return to, err
		}
	}
	return append(to, '}'), nil
}

// written returns what stands before each value: the name, and what is between it and
// the values beside it.
func (s *shape) written() []string {
	if known := s.json.Load(); known != nil {
		return *known
	}
	out := make([]string, len(s.keys))
	for i, name := range s.keys {
		before := ","
		if i == 0 {
			before = "{"
		}
		out[i] = string(append(AppendText([]byte(before), name), ':'))
	}
	s.json.Store(&out)
	return out
}

func (l *List) appendJSON(to []byte) (_ []byte, err error) {
	to = append(to, '[')
	for i, item := range l.items {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = AppendJSON(to, item); err != nil {
			return to, err
		}
	}
	return append(to, ']'), nil
}

// AppendText appends a text as JSON writes it, with its quotes. One with characters that encoding/json
// escapes, or might, is left to it.
func AppendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !verbatim[c] {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // there is no text that it does not write
			}
			return append(to, text...)
		}
	}
	to = append(append(to, '"'), s...)
	return append(to, '"')
}

// verbatim are the characters that stand for themselves.
var verbatim = func() (out [utf8.RuneSelf]bool) {
	for c := range out {
		out[c] = c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return out
}()
