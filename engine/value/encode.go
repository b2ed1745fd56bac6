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
	out, err := AppendJSON((*buffer)[:0], v)
	text := slices.Clone(out)
	if cap(out) <= maxBuffer {
		*buffer = out
	}
	buffers.Put(buffer)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// buffers are those that no text is written into. Larger ones than maxBuffer, in
// bytes, are not used again.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 8 << 20

// AppendJSON appends a value as JSON writes it.
func AppendJSON(to []byte, v Value) ([]byte, error) {
	switch v := v.(type) {
	case *Map:
		return v.appendJSON(to)
	case *List:
		return v.appendJSON(to)
	case types.String:
		return appendText(to, string(v)), nil
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
	to = append(to, '{')
	for i, name := range m.keys() {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(appendText(to, name), ':')
		if to, err = AppendJSON(to, m.vals[i]); err != nil {
			return to, err
		}
	}
	return append(to, '}'), nil
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

// appendText appends a text with its quotes. One with characters that encoding/json
// escapes, or might, is left to it.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !written[c] {
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

// written are the characters that stand for themselves.
var written = func() (out [utf8.RuneSelf]bool) {
	for c := range out {
		out[c] = c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return out
}()
