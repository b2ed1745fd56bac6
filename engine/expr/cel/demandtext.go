package cel

import (
	"math"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiserver "k8s.io/apiserver/pkg/cel"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/week"
)

// How much is done for a unit: bytes that are only looked at, bytes that are
// read one character after the other, instructions of a pattern that are tried,
// items that are touched, values that are walked to settle them, characters that are
// compared.
const (
	bytesPerUnit        = 1000
	charactersPerUnit   = 10
	instructionsPerUnit = 10
	itemsPerUnit        = 10
	walkedPerUnit       = 2
	comparisonsPerUnit  = 50
)

// copied is the need of a call that builds one text of n bytes.
func copied(n int) expr.Need { return read(n, n) }

// read is the need of a call that reads n bytes and builds a text of m bytes.
func read(n, m int) expr.Need {
	return expr.Need{Work: 1 + units(n, charactersPerUnit), Text: m, Bytes: value.ScalarBytes + m}
}

func units(n, per int) uint64 { return expr.Units(n, per) }

func times(a, b int) int { return expr.Times(a, b) }

// mended is how long a text can become when bytes that are no UTF-8 are
// replaced by the character for that, which has three.
func mended(v ref.Val) int {
	s, _ := v.(types.String)
	if utf8.ValidString(string(s)) {
		return len(s)
	}
	return 3 * len(s)
}

func replaced(a *callArgs) expr.Need {
	s, _ := a[0].(types.String)
	old, _ := a[1].(types.String)
	with, _ := a[2].(types.String)
	count := strings.Count(string(s), string(old))
	if n, ok := a[3].(types.Int); ok && n >= 0 {
		count = int(min(types.Int(count), n))
	}
	n := len(s) + times(count, max(0, len(with)-len(old)))
	return read(2*len(s)+min(n, maxDeep), n)
}

func cut(a *callArgs) expr.Need {
	s, _ := a[0].(types.String)
	sep, _ := a[1].(types.String)
	pieces := strings.Count(string(s), string(sep)) + 1
	return expr.Need{Work: 1 + units(2*len(s)+pieces, charactersPerUnit), Bytes: value.HolderBytes + 2*value.ScalarBytes*pieces + 2*len(s)}
}

func joinedText(a *callArgs) expr.Need {
	n, m := length(a[0]), measure{}
	sum := times(max(0, n-1), textBytes(a[1])) + m.textsOf(a[0], maxDeep)
	return expr.Need{Work: 1 + units(n+2*min(sum, maxDeep), charactersPerUnit) + m.work(), Text: sum, Bytes: 2*sum + value.ScalarBytes}
}

// searched is indexOf and lastIndexOf: in texts each character is compared with
// each of the other text, in lists each item with the other.
func searched(a *callArgs) expr.Need {
	s, ok := a[0].(types.String)
	if !ok {
		return memberOf(&callArgs{a[1], a[0]})
	}
	n, m := len(s), textBytes(a[1])
	return expr.Need{Work: 1 + units(n+m, charactersPerUnit) + units(times(max(0, n-m+1), m), comparisonsPerUnit)}
}

// mapped is for functions that read a text and give all or a part of it.
func mapped(a *callArgs) expr.Need { return read(textBytes(a[0]), mended(a[0])) }

func quoted(a *callArgs) expr.Need {
	n := 3*textBytes(a[0]) + 2
	return read(n, n)
}

// converted is for conversions that copy a text or bytes.
func converted(a *callArgs) expr.Need {
	if n := textBytes(a[0]); n > 0 {
		return copied(n)
	}
	return expr.Need{Bytes: 64}
}

// parsed is for texts that are read as something else, which may be larger.
func parsed(per, perUnit int) func(*callArgs) expr.Need {
	return func(a *callArgs) expr.Need {
		n := textBytes(a[0]) + textBytes(a[1])
		return expr.Need{Work: 1 + units(n, perUnit), Bytes: 256 + per*n}
	}
}

// digits is for texts that are read as a number of any length: the time grows
// with the square of the length. With an exponent that is too large nothing can be
// computed within any limit.
func digits(a *callArgs) expr.Need {
	n := textBytes(a[0])
	if text, ok := value.Str(a[0]); ok && !value.QuantityFits(text) {
		return expr.Need{Work: expr.Uncounted}
	}
	return expr.Need{Work: 1 + units(n, charactersPerUnit) + units(times(n, n), 10_000), Bytes: 256 + 2*n}
}

// matched is for a text and the size of a literal pattern.
func matched(a *callArgs) expr.Need {
	size, _ := a[1].(types.Int)
	return expr.Need{Work: 1 + units(times(textBytes(a[0])+1, int(size)), instructionsPerUnit), Bytes: value.ScalarBytes}
}

// foundAll is matched for a list of what was found.
func foundAll(a *callArgs) expr.Need {
	need := matched(a)
	need.Bytes = value.HolderBytes + 2*value.ScalarBytes*(textBytes(a[0])+1)
	return need
}

func validated(a *callArgs) expr.Need {
	n, size := textBytes(a[1]), 1
	if f, ok := a[0].Value().(*apiserver.Format); ok {
		size += f.MaxRegexSize
	}
	return expr.Need{Work: 1 + units(times(n+1, size), instructionsPerUnit), Bytes: 4096 + 4*n}
}

// held is for calls that go once through what values of libraries hold, as comparing and
// adding do.
func held(a *callArgs) expr.Need {
	n := 0
	for _, v := range a {
		n += value.Size(v)
	}
	return expr.Need{Work: units(n, bytesPerUnit/2), Bytes: n}
}

// query is a URL's query taken apart.
func query(a *callArgs) expr.Need {
	u, ok := a[0].(apiserver.URL)
	if !ok || u.URL == nil {
		return expr.Need{Work: 1}
	}
	n, fields := len(u.RawQuery), 1+strings.Count(u.RawQuery, "&")
	return expr.Need{Work: 1 + units(4*n, charactersPerUnit), Bytes: value.HolderBytes + 512*fields + 2*n}
}

// path is a part of a URL that may be written anew.
func path(a *callArgs) expr.Need {
	u, ok := a[0].(apiserver.URL)
	if !ok || u.URL == nil {
		return expr.Need{Work: 1}
	}
	n := 3 * (len(u.Path) + len(u.RawPath) + len(u.Host))
	return read(n, n)
}

// formatted is format: each item is written once, with as many digits as a
// verb asks for.
func formatted(a *callArgs) expr.Need {
	format, _ := a[0].(types.String)
	list, ok := a[1].(traits.Lister)
	if !ok {
		return copied(len(format))
	}
	sum, m := len(format)+precisions(string(format)), measure{}
	m.each(list, func(item ref.Val) bool {
		switch item := item.(type) {
		case types.String:
			sum += 2 * mended(item)
		case types.Bytes:
			sum += 3 * len(item)
		default:
			sum += min(expr.Uncounted, 24*m.deep(item)) // a number of 16 bytes has up to 310 digits
		}
		return sum < maxDeep
	})
	need := read(min(2*sum, maxDeep), sum)
	need.Work += m.work()
	return need
}

// precisions adds up the digits that the verbs of a format ask for.
func precisions(format string) (sum int) {
	for at := strings.IndexByte(format, '.'); at >= 0; at = strings.IndexByte(format, '.') {
		format = format[at+1:]
		n := 0
		for len(format) > 0 && format[0] >= '0' && format[0] <= '9' {
			n = min(n*10+int(format[0]-'0'), math.MaxInt32)
			format = format[1:]
		}
		sum = min(sum+n, expr.Uncounted)
	}
	return sum
}

// localDemand is declared of a function of a time in a time zone. Those with a name are
// looked up as the builtins do; an offset such as 01:00 is left to the library.
func localDemand(function string) *demand {
	return &demand{
		need: func(a *callArgs) expr.Need {
			name, _ := a[1].(types.String)
			if name != "" && !isOffset(name) {
				if _, err := week.Location(string(name)); err != nil {
					return expr.Need{Work: 200} // LoadLocation opens some files
				}
			}
			return expr.Need{Work: 5}
		},
		instead: func(a *callArgs) ref.Val {
			at, ok := a[0].(types.Timestamp)
			name, isText := a[1].(types.String)
			if !ok || !isText || name == "" || isOffset(name) {
				return nil
			}
			location, err := week.Location(string(name))
			if err != nil {
				return types.WrapErr(err)
			}
			return types.Timestamp{Time: at.In(location)}.Receive(function, "", nil)
		},
	}
}

// noAddress returns an error if the argument is not an IP address. In the library no overload
// matches then, which its error reports as a wrong type.
func noAddress(a *callArgs) ref.Val {
	text, _ := a[1].(types.String)
	if ip, err := netip.ParseAddr(string(text)); err != nil || strings.Contains(string(text), "%") || ip.Is4In6() {
		return types.NewErr("%q is no IP address", string(text))
	}
	return nil
}

func isOffset(name types.String) bool {
	return len(name) <= week.MaxLocation && strings.Contains(string(name), ":")
}
