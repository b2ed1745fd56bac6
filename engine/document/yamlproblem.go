package document

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlProblem returns the library's error a position and, where the usual cause
// is a CEL expression that YAML misread, says so.
func yamlProblem(source *Source, text []byte, err error) Problem {
	p := Problem{Position: Position{File: source.File}, Severity: Error, Message: "not valid YAML: " + err.Error()}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Message = "not valid YAML: " + m[2]
	}
	if line := wrongLine(text); line > 0 {
		p.Line, p.Column = line, Indentation(source.Line(line))+1
	}
	p.Source = source.Line(p.Line)
	p.Hint = yamlHint(p.Message, source.Line(max(1, p.Line))) // the library does not name the first line
	return p
}

// maxTried is how many bytes are read again to find the line that is wrong.
const maxTried = 4 << 20

// wrongLine returns the line of a text that is not valid YAML from which on it is not, 0 if
// that would take long: the library names the line where the mapping or list begins that it
// was reading, or where it gave up. A text that is cut off before that line is valid. Of a
// value of several lines it is the first.
func wrongLine(text []byte) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	n, end := len(lines), len(text)
	for tried := 0; n > 0 && tried <= maxTried; n-- {
		if end -= len(lines[n-1]); valid(text[:end]) {
			return n
		}
		tried += end
	}
	return 0
}

// valid reports whether a text is YAML.
func valid(text []byte) (ok bool) {
	defer func() {
		if recover() != nil { // as ParseUnbounded says
			ok = false
		}
	}()
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var raw yaml.Node
		if err := decoder.Decode(&raw); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// yamlHints are the usual causes of the library's errors.
var yamlHints = []struct{ message, hint string }{
	{"did not find expected '-' indicator", "the indentation differs from the lines above: the items of one list begin at the same column"},
	{"did not find expected key", "the indentation differs from the lines above, or a quote in the line before ends a text too early; a block (>-) needs no quotes"},
	{"did not find expected ',' or", "inside { } and [ ] a value with ${ }, .?, a comma or a bracket stands in quotes, such as {name: \"${x}\"}; a quote inside a quoted text is doubled or of the other kind"},
	{"did not find expected node content", "a value that begins with a comma or a bracket stands in quotes"},
	{"found character that cannot start any token", "a value that begins with @, % or a backtick stands in quotes; lines are indented with spaces, not tabs"},
	{"could not find expected ':'", "a line between two fields is neither a field nor indented further than the one before"},
	{"found unexpected end of stream", "a quote or a bracket that opens here, or above, is never closed"},
	{"did not find expected comment or line break", "text follows a closing quote or a tag such as !x; put the whole value into quotes"},
}

// opened matches a value that YAML reads as a tag, or with text after its closing quote or
// bracket.
var opened = regexp.MustCompile(`^\s*(?:- )?\w+: +(?:(!)\S|(")[^"]*" +\S|(\[)[^\]]*\]\S|(\{)[^}]*\}\S)`)

// quotedWhole are such values, in quotes.
var quotedWhole = map[string]string{
	"!": `when: '!has(object.spec.x)'`, `"`: `when: '"a" in object.spec.list'`, "[": `when: '["a", "b"].exists(x, x == object.spec.y)'`, "{": `when: '{"a": 1}.all(k, v, v > 0)'`,
}

func yamlHint(message, line string) string {
	if strings.Contains(message, "mapping values are not allowed") {
		if strings.Contains(line, "?") || strings.Count(line, ": ") > 1 {
			return "an expression with \": \" in it, such as a ? b : c, must stand in quotes"
		}
		return "the line is indented further than the field above it, which has a value already"
	}
	if m := opened.FindStringSubmatch(line); m != nil && !strings.Contains(message, "end of stream") {
		begins := strings.Join(m[1:], "")
		return "an expression that begins with " + begins + " stands in quotes, as in " + quotedWhole[begins]
	}
	for _, h := range yamlHints {
		if strings.Contains(message, h.message) {
			return h.hint
		}
	}
	return ""
}
