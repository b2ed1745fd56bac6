package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
			problems.Add(yamlProblem(source, text, err))
			return nodes
		}
		c := converter{source: source, problems: problems}
		if n := c.convert(&raw, 0); n != nil && n.Kind != Null {
			nodes = append(nodes, n)
		}
	}
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
			name := c.scalar(key)
			name.Kind = String
			n.Keys = append(n.Keys, name)
			n.Values = append(n.Values, value)
		}
	}
	return n
}

func (c *converter) scalar(raw *yaml.Node) *Node {
	n := &Node{Text: raw.Value, Pos: c.position(raw), source: c.source}
	if raw.Style&yaml.TaggedStyle != 0 {
		n.Kind = String
		if c.tagged(raw) {
			n.Text = raw.Tag + spaced(raw.Value) // as it was meant, so that nothing else is wrong with it
		}
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
		if _, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64); err != nil {
			c.problems.Hintf(n.Pos, "put a text in quotes", "JSON has no number %s", n.Text)
		}
	case "!!str", "!!timestamp":
		n.Kind = String
		if _, known := booleans[n.Text]; known && !n.Quoted {
			n.Kind = Bool
		}
	default:
		n.Kind = String
		c.tagged(raw)
	}
	return n
}

// tagged reports a tag, and whether it is rather an expression that begins with !.
func (c *converter) tagged(raw *yaml.Node) bool {
	if strings.HasPrefix(raw.Tag, "!") && !strings.HasPrefix(raw.Tag, "!!") {
		c.problems.Hintf(c.position(raw), fmt.Sprintf("put the expression in quotes: \"%s%s\"", raw.Tag, spaced(raw.Value)),
			"YAML reads a leading ! as a tag")
		return true
	}
	c.problems.Errorf(c.position(raw), "the YAML tag %s is not read", raw.Tag)
	return false
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
