package hash

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
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
	sum := sha256.Sum256([]byte(canonical(data)))
	return value.OfString(hex.EncodeToString(sum[:])), nil
}

func canonical(data *value.Map) string {
	var b strings.Builder
	b.WriteByte('{')
	if data != nil {
		for i := range data.Len() { // in the order of the keys
			if i > 0 {
				b.WriteByte(',')
			}
			key, v := data.At(i)
			quote(&b, key)
			b.WriteByte(':')
			quote(&b, text(v))
		}
	}
	b.WriteByte('}')
	return b.String()
}

// text gives a value as a string; null is an empty one.
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

func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch escaped, ok := short[r]; {
		case ok:
			b.WriteString(escaped)
		case r >= 0x20 && r <= 0x7e:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}
