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
)

// Functions gives pattern.valid and pattern.search.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "pattern.valid", Args: []expr.Type{expr.String}, Result: expr.Bool,
			Doc: "whether a text is a regular expression (RE2) of at most 256 bytes", Example: `pattern.valid(mapping.regexp)`,
			Cost: func([]value.Value) uint64 { return 50 },
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				_, err := parse(args[0])
				return value.OfBool(err == nil), nil
			},
		},
		{
			Name: "pattern.search", Args: []expr.Type{expr.String, expr.String}, Result: expr.Bool,
			Doc: "whether a pattern is found anywhere in a text", Example: `pattern.search(mapping.regexp, kernel)`,
			Cost: func([]value.Value) uint64 { return 100 },
			Do:   search,
		},
	}
}

func parse(v value.Value) (*regexp.Regexp, error) {
	text, _ := value.Str(v)
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(text), MaxPattern)
	}
	return regexp.Compile(text)
}

func search(_ *expr.Call, args []value.Value) (value.Value, error) {
	re, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	text, _ := value.Str(args[1])
	if len(text) > MaxText {
		return nil, fmt.Errorf("the text has %d bytes, at most %d are searched", len(text), MaxText)
	}
	return value.OfBool(re.MatchString(text)), nil
}
