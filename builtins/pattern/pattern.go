// Package pattern searches with regular expressions that are data. CEL's own
// matches takes literals only, because a pattern's cost depends on what it
// says; here its size is bounded before it is used.
package pattern

import (
	"fmt"
	"regexp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Limits of a pattern and of a text that is searched, in bytes.
const (
	MaxPattern = 256
	MaxText    = 4 << 10
	// MaxProgram is the largest program of a pattern, in instructions. A short
	// pattern can be a large one: (a{100}){10} has a thousand.
	MaxProgram = 10_000
)

// Functions returns pattern.valid, pattern.search, regex.extract and regex.replace.
func Functions() []expr.Function {
	return append(regexFunctions(), []expr.Function{
		{
			Name: "pattern.valid", Args: []expr.Type{expr.String}, Result: expr.Bool,
			Doc: "whether a text is a regular expression (RE2) of at most 256 bytes and 10,000 instructions", Example: `pattern.valid(mapping.regexp)`,
			Needs: func(args []value.Value) expr.Need { return expr.Need{Work: 50 + compiling(program(args[0]))} },
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				_, err := parse(args[0])
				return value.OfBool(err == nil), nil
			},
		},
		{
			Name: "pattern.search", Args: []expr.Type{expr.String, expr.String}, Result: expr.Bool,
			Doc: "whether a pattern is found anywhere in a text", Example: `pattern.search(mapping.regexp, kernel)`,
			Needs: searching,
			Do:    search, StandIns: []value.Value{empty, empty},
		},
	}...)
}

// searching is the need of a search: to compile the pattern, and to try each of
// its instructions on each character of the text, at most.
func searching(args []value.Value) expr.Need {
	size, length := program(args[0]), value.Size(args[1])
	if length > MaxText {
		return expr.Need{Work: 1} // it is not searched
	}
	return expr.Need{Work: 100 + compiling(size) + expr.Units(expr.Times(size, length+1), 10), Scratch: expr.Times(size, 256)}
}

// compiling is the cost of compiling a pattern to a program of so many
// instructions; one that is too large is not compiled.
func compiling(size int) uint64 {
	if size > MaxProgram {
		return 0
	}
	return expr.Units(size, 1) * 5
}

func parse(v value.Value) (*regexp.Regexp, error) {
	text, _ := value.Str(v)
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(text), MaxPattern)
	}
	if size := program(v); size > MaxProgram {
		return nil, fmt.Errorf("the pattern has %d instructions, at most %d are allowed; repeat less often", size, MaxProgram)
	}
	return regexp.Compile(text)
}

func search(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[1])
	if len(text) > MaxText {
		return nil, fmt.Errorf("the text has %d bytes, at most %d are searched", len(text), MaxText)
	}
	re, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	return value.OfBool(re.MatchString(text)), nil
}

// program is how many instructions the program of a pattern has, at most. What
// is no pattern, or is too long for one, has none.
func program(v value.Value) int {
	text, _ := value.Str(v)
	if len(text) > MaxPattern {
		return 0
	}
	size, err := expr.PatternSize(text)
	if err != nil {
		return 0
	}
	return size
}
