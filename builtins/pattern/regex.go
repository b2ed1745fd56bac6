package pattern

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// regexFunctions returns regex.extract and regex.replace.
func regexFunctions() []expr.Function {
	return []expr.Function{
		{
			Name: "regex.extract", Args: []expr.Type{expr.String, expr.String}, Result: expr.OptionalOf(expr.String),
			Doc:     "the first part of a text that a pattern matches, or of it what the first group matches; none when it is not found",
			Example: `regex.extract(image, ":([^:@]+)$").orValue("latest")`,
			Needs:   extracting,
			Do:      extract, StandIns: []value.Value{empty, empty},
		},
		{
			Name: "regex.replace", Args: []expr.Type{expr.String, expr.String, expr.String}, Result: expr.String,
			Doc:     "a text with all matches of a pattern replaced; $1 or ${1} stands for what the first group matches, ${1} where a letter, a digit or _ follows, and $$ for a dollar",
			Example: `regex.replace(image, "^docker.io/", "mirror.example.com/")`,
			Needs:   replacing,
			Do:      replace, StandIns: []value.Value{empty, empty, empty},
		},
	}
}

// empty is a text, and a pattern, that every function takes.
var empty = value.OfString("")

// compiled returns a text and the pattern that is looked for in it.
func compiled(args []value.Value) (string, *regexp.Regexp, error) {
	text, _ := value.Str(args[0])
	if len(text) > MaxText {
		return "", nil, fmt.Errorf("the text has %d bytes, at most %d are searched", len(text), MaxText)
	}
	re, err := parse(args[1])
	return text, re, err
}

func extract(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, re, err := compiled(args)
	if err != nil {
		return nil, err
	}
	found := re.FindStringSubmatch(text)
	switch {
	case found == nil:
		return value.None, nil
	case len(found) > 1:
		return value.Some(value.OfString(found[1])), nil
	default:
		return value.Some(value.OfString(found[0])), nil
	}
}

// extracting is the need of a search, and of a text that may be all that was searched.
func extracting(args []value.Value) expr.Need {
	out := searching([]value.Value{args[1], args[0]})
	text, _ := value.Str(args[0])
	out.Text, out.Bytes = len(text), len(text)
	return out
}

// replacing is the need of a replacement: a search, and at worst one replacement
// for each character, each with the whole text for each $ in it.
func replacing(args []value.Value) expr.Need {
	need := searching([]value.Value{args[1], args[0]})
	text, with := value.Size(args[0]), value.Size(args[2])
	if text > MaxText || with > MaxText {
		return expr.Need{Work: 1}
	}
	need.Text = min(maxReplaced, text+expr.Times(text+1, with)+expr.Times(text, with))
	need.Work += expr.Units(need.Text, 10)
	need.Scratch += 2 * need.Text
	return need
}

// maxReplaced is the longest result of a replacement, in bytes.
const maxReplaced = 64 << 10

func replace(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, re, err := compiled(args)
	if err != nil {
		return nil, err
	}
	with, _ := value.Str(args[2])
	if len(with) > MaxText {
		return nil, fmt.Errorf("the replacement has %d bytes, at most %d are allowed", len(with), MaxText)
	}
	if err := checkGroups(re, with); err != nil {
		return nil, err
	}
	var out []byte
	from := 0
	for _, at := range re.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, text[from:at[0]]...)
		out = re.ExpandString(out, with, text, at)
		if from = at[1]; len(out) > maxReplaced {
			return nil, fmt.Errorf("the result has more than %d bytes", maxReplaced)
		}
	}
	return value.OfString(string(append(out, text[from:]...))), nil
}

// reference finds what Regexp.Expand takes for a dollar or a group.
var reference = regexp.MustCompile(`\$(?:\$|\{(\w+)\}|(\w+))`)

// checkGroups returns an error if a replacement names a group that the pattern does not have:
// Expand would put nothing in its place.
func checkGroups(re *regexp.Regexp, with string) error {
	for _, found := range reference.FindAllStringSubmatch(with, -1) {
		name := found[1] + found[2]
		if name == "" {
			continue
		}
		n, err := strconv.Atoi(name)
		if err == nil && n <= re.NumSubexp() || err != nil && re.SubexpIndex(name) >= 0 {
			continue
		}
		return fmt.Errorf("the replacement names the group %q, and the pattern has no such group; write ${1} for the first where a letter, a digit or _ follows, and $$ for a dollar", name)
	}
	return nil
}
