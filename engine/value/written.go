package value

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
)

// Writing is how large a value becomes when it leaves the evaluation. The
// figures are no less than the real ones.
type Writing struct {
	// JSON and YAML are the lengths of its texts, in bytes.
	JSON, YAML int
	// Plain is what the result of Plain takes in memory, in bytes.
	Plain int
}

// Unmeasured is a figure of a value that is larger than the limit it was
// measured up to.
const Unmeasured = 1 << 40

// Measure tells how large a value is when it is written. It ends when a text has
// passed the limit, or the memory for Plain eight times that, so it takes no
// longer than writing as much would; all figures are Unmeasured then.
func Measure(v Value, limit int) Writing {
	m := measurer{limit: limit}
	m.value(v, 0)
	if m.YAML++; m.over() {
		return Writing{JSON: Unmeasured, YAML: Unmeasured, Plain: Unmeasured}
	}
	return m.Writing
}

type measurer struct {
	Writing
	limit int
}

func (m *measurer) over() bool {
	return m.JSON > m.limit || m.YAML/plainFactor > m.limit || m.Plain/plainFactor > m.limit
}

// plainFactor is how many times the limit of the JSON the other figures may have.
const plainFactor = 8

// What JSON and YAML put around a value, and what Go takes for it.
const (
	longestScalar  = 40
	plainMap       = 400
	plainEntry     = 112
	plainList      = 40
	plainReference = 16
	foldedLine     = 60
)

func (m *measurer) value(v Value, depth int) {
	switch v := Unwrap(v).(type) {
	case *Map:
		m.JSON += 2
		m.YAML += 4
		m.Plain += plainMap
		for i := 0; i < v.Len() && !m.over(); i++ {
			name, inner := v.At(i)
			m.text(name, depth)
			m.JSON += 2
			m.YAML += 4
			m.Plain += plainEntry
			m.value(inner, depth+1)
		}
	case *List:
		m.JSON += 2
		m.YAML += 4
		m.Plain += plainList
		for i := 0; i < v.Len() && !m.over(); i++ {
			m.JSON++
			m.Plain += plainReference
			m.value(v.At(i), depth+1)
		}
	case types.String:
		m.text(string(v), depth)
	case types.Bytes:
		n := 2 * len(v)
		m.JSON += n + 2
		m.YAML += n + (n/foldedLine+2)*(2*depth+4)
		m.Plain += n + plainReference
	case interface{ frozenMap() *Map }:
		m.value(v.frozenMap(), depth)
	default:
		m.JSON += longestScalar
		m.YAML += longestScalar + 2*depth + 4
		m.Plain += longestScalar
	}
}

// text counts a text with its quotes and escapes, and for YAML the indentation
// of each line that it may be broken into.
func (m *measurer) text(s string, depth int) {
	escaped, lines := 2, 2+len(s)/foldedLine
	valid := utf8.ValidString(s)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b < 0x20 || b == 0x7f || b == '<' || b == '>' || b == '&':
			escaped += 6
		case b == '"' || b == '\\' || b == '\'':
			escaped += 2
		case b < 0x80:
			escaped++
		case valid:
			escaped += 6
		default:
			escaped += 12
		}
	}
	lines += strings.Count(s, "\n") + strings.Count(s, " ")/8
	m.JSON += escaped
	m.YAML += escaped + lines*(2*depth+6)
	m.Plain += plainReference
}
