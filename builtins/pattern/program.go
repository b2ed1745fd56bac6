package pattern

import (
	"regexp/syntax"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// program is how many instructions the program of a pattern has, at most. It is
// told from the parsed pattern: compiling a large one takes a tenth of a second.
// What is no pattern, or is too long for one, has none.
func program(v value.Value) int {
	text, _ := value.Str(v)
	if len(text) > MaxPattern {
		return 0
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	return 2 + instructions(parsed)
}

func instructions(re *syntax.Regexp) int {
	sum := 0
	for _, sub := range re.Sub {
		sum += instructions(sub) + 1
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		// x{2,5} becomes xx(x(x(x)?)?)?, x{2,} becomes xx+.
		return expr.Times(sum+2, max(re.Max, re.Min)+1)
	case syntax.OpConcat:
		return sum
	default:
		return sum + 2
	}
}
