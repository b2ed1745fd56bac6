package hash

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf16"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// configData digests the data of a ConfigMap or Secret: SHA-256 of its JSON
// with sorted keys, without spaces, in ASCII. Every byte of that form is fixed,
// because digests outlive the program that wrote them: they stand in the
// annotations of workloads.
func configData(_ *expr.Call, args []value.Value) (value.Value, error) {
	data, _ := value.Path(args[0], "data").(*value.Map)
	sum := sha256.New()
	b := bufio.NewWriterSize(sum, bufferBytes)
	canonical(b, data)
	_ = b.Flush() // a hash never fails
	return value.OfString(hex.EncodeToString(sum.Sum(nil))), nil
}

const bufferBytes = 4 << 10

// configNeed is for reading all of the data; its text goes into the digest piece
// by piece.
func configNeed(args []value.Value) expr.Need {
	work := 10 + expr.Units(value.Deep(value.Path(args[0], "data")), 5)
	return expr.Need{Work: work, Bytes: 64, Scratch: 2 * bufferBytes}
}

// canonical writes the data; what a buffer says of errors, its Flush says again.
func canonical(b *bufio.Writer, data *value.Map) {
	_ = b.WriteByte('{')
	if data != nil {
		for i := range data.Len() { // in the order of the keys
			if i > 0 {
				_ = b.WriteByte(',')
			}
			key, v := data.At(i)
			quote(b, key)
			_ = b.WriteByte(':')
			quote(b, text(v))
		}
	}
	_ = b.WriteByte('}')
}

// text returns a value as a string; null is an empty one.
func text(v value.Value) string {
	if s, ok := value.Str(v); ok {
		return s
	}
	if value.IsNull(v) {
		return ""
	}
	s, err := value.Text(v)
	if err != nil {
		return ""
	}
	return s
}

// short are the characters that JSON escapes with a letter.
var short = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func quote(b *bufio.Writer, s string) {
	_ = b.WriteByte('"')
	for _, r := range s {
		switch escaped, ok := short[r]; {
		case ok:
			_, _ = b.WriteString(escaped)
		case r >= 0x20 && r <= 0x7e:
			_, _ = b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			_, _ = fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			_, _ = fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	_ = b.WriteByte('"')
}
