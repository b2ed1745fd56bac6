package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of a document. They bound the work of reading one before any of it
// is understood.
const (
	// MaxBytes is the largest file that is read.
	MaxBytes = 256 << 10
	// MaxDepth is the deepest nesting of lists and mappings.
	MaxDepth = 64
)

// Parse reads the YAML documents of a file. Everything wrong is added to
// problems; the documents that could be read are returned.
func Parse(file string, text []byte, problems *Problems) []*Node {
	if len(text) > MaxBytes {
		problems.Hintf(Position{File: file}, "split it into several files", "the file has %d bytes, at most %d are read", len(text), MaxBytes)
		return nil
	}
	return ParseUnbounded(file, text, problems)
}

// ParseUnbounded reads YAML documents of any size: for manifests that the
// caller generated or exported, not for policies.
func ParseUnbounded(file string, text []byte, problems *Problems) (nodes []*Node) {
	defer func() { // the YAML library reports some malformed input by panicking
		if r := recover(); r != nil {
			problems.Errorf(Position{File: file}, "not readable as YAML: %v", r)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	source := NewSource(file, text)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var raw yaml.Node
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nodes
		}
		if err != nil {
			problems.Add(yamlProblem(source, err))
			return nodes
		}
		c := converter{source: source, problems: problems}
		if n := c.convert(&raw, 0); n != nil && n.Kind != Null {
			nodes = append(nodes, n)
		}
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlProblem returns the library's error a position and, where the usual cause
// is a CEL expression that YAML misread, says so.
func yamlProblem(source *Source, err error) Problem {
	p := Problem{Position: Position{File: source.File}, Severity: Error, Message: "not valid YAML: " + err.Error()}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Message = "not valid YAML: " + m[2]
	}
	p.Source = source.Line(p.Line)
	p.Hint = yamlHint(p.Message, source.Line(max(1, p.Line))) // the library does not name the first line
	return p
}

// yamlHints are the usual causes of the library's errors. It often gives up
// below the line that is wrong.
var yamlHints = []struct{ message, hint string }{
	{"did not find expected '-' indicator", "the indentation differs from the lines above: the items of one list begin at the same column"},
	{"did not find expected key", "the indentation differs from the lines above, or a quote in the line before ends a text too early; a block (>-) needs no quotes"},
	{"did not find expected ',' or", "inside { } and [ ] a value with ${ }, a comma or a bracket stands in quotes, such as {name: \"${x}\"}; a quote inside a quoted text is doubled or of the other kind"},
	{"did not find expected node content", "a value that begins with a comma or a bracket stands in quotes"},
	{"found character that cannot start any token", "a value that begins with @, % or a backtick stands in quotes; lines are indented with spaces, not tabs"},
	{"could not find expected ':'", "a line between two fields is neither a field nor indented further than the one before"},
	{"found unexpected end of stream", "a quote or a bracket is never closed; search upwards from here"},
	{"did not find expected comment or line break", "text follows a closing quote or a tag such as !x; put the whole value into quotes"},
}

func yamlHint(message, line string) string {
	if strings.Contains(message, "mapping values are not allowed") {
		if strings.Contains(line, "?") || strings.Count(line, ": ") > 1 {
			return "an expression with \": \" in it, such as a ? b : c, must stand in quotes"
		}
		return "the line is indented further than the field above it, which has a value already"
	}
	for _, h := range yamlHints {
		if strings.Contains(message, h.message) {
			return h.hint
		}
	}
	return ""
}

type converter struct {
	source   *Source
	problems *Problems
}

func (c *converter) position(raw *yaml.Node) Position {
	return Position{File: c.source.File, Line: raw.Line, Column: raw.Column}
}

func (c *converter) convert(raw *yaml.Node, depth int) *Node {
	if depth > MaxDepth {
		c.problems.Errorf(c.position(raw), "nested more than %d deep", MaxDepth)
		return nil
	}
	if raw.Anchor != "" {
		c.problems.Hintf(c.position(raw), "leave it out; an expression that begins with & stands in quotes", "YAML anchors (&%s) are not read", raw.Anchor)
	}
	switch raw.Kind {
	case yaml.DocumentNode:
		return c.convert(raw.Content[0], depth)
	case yaml.AliasNode:
		c.problems.Hintf(c.position(raw), "write the value out", "YAML aliases (*%s) are not read", raw.Value)
		return nil
	case yaml.MappingNode:
		return c.mapping(raw, depth)
	case yaml.SequenceNode:
		return c.sequence(raw, depth)
	case yaml.ScalarNode:
		return c.scalar(raw)
	default:
		return &Node{Pos: c.position(raw), source: c.source}
	}
}

func (c *converter) sequence(raw *yaml.Node, depth int) *Node {
	n := &Node{Kind: List, Pos: c.position(raw), source: c.source}
	for _, item := range raw.Content {
		if v := c.convert(item, depth+1); v != nil {
			n.Values = append(n.Values, v)
		}
	}
	return n
}

func (c *converter) mapping(raw *yaml.Node, depth int) *Node {
	n := &Node{Kind: Map, Pos: c.position(raw), source: c.source}
	seen := map[string]int{}
	for i := 0; i+1 < len(raw.Content); i += 2 {
		key := raw.Content[i]
		if key.Kind != yaml.ScalarNode {
			c.problems.Hintf(c.position(key), "put a value that begins with { or [ in quotes", "a key must be a plain word")
			continue
		}
		if line, dup := seen[key.Value]; dup {
			c.problems.Errorf(c.position(key), "duplicate key %q, first on line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		if value := c.convert(raw.Content[i+1], depth+1); value != nil {
			n.Keys = append(n.Keys, c.scalar(key))
			n.Values = append(n.Values, value)
		}
	}
	return n
}

func (c *converter) scalar(raw *yaml.Node) *Node {
	n := &Node{Text: raw.Value, Pos: c.position(raw), source: c.source}
	if raw.Style&yaml.TaggedStyle != 0 {
		n.Kind = String
		c.tagged(raw)
		return n
	}
	n.Quoted = raw.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch raw.ShortTag() {
	case "!!null":
		n.Kind = Null
	case "!!bool":
		n.Kind = Bool
	case "!!int":
		n.Kind = Int
	case "!!float":
		n.Kind = Float
	case "!!str", "!!timestamp":
		n.Kind = String
	default:
		n.Kind = String
		c.tagged(raw)
	}
	return n
}

func (c *converter) tagged(raw *yaml.Node) {
	if strings.HasPrefix(raw.Tag, "!") && !strings.HasPrefix(raw.Tag, "!!") {
		c.problems.Hintf(c.position(raw), fmt.Sprintf("put the expression in quotes: \"%s%s\"", raw.Tag, spaced(raw.Value)),
			"YAML reads a leading ! as a tag")
		return
	}
	c.problems.Errorf(c.position(raw), "the YAML tag %s is not read", raw.Tag)
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
