package expr

import "regexp/syntax"

// PatternSize is how many instructions the program of a regular expression has,
// at most. It is told from the parsed pattern: a short one can have a large
// program, which takes a tenth of a second to make. The error is that of a text
// that is no pattern of RE2.
func PatternSize(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return 2 + patternSize(parsed), nil
}

func patternSize(re *syntax.Regexp) int {
	sum := 0
	for _, sub := range re.Sub {
		sum += patternSize(sub) + 1
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat: // x{2,4} becomes xx(x(x)?)?, x{2,} becomes xx+
		return Times(sum+2, max(re.Max, re.Min)+1)
	case syntax.OpConcat:
		return sum
	default:
		return sum + 2
	}
}
