package document

import (
	"slices"
)

// Kind is the shape of a node.
type Kind int

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String names the kind as a person would.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "a list", "a mapping"}[k]
}

// Node is a YAML value that remembers where it stands.
type Node struct {
	Kind Kind
	// Text is the value of a scalar, after YAML's unquoting and folding.
	Text string
	// Keys and Values are the entries of a Map, in the order of the file.
	Keys []*Node
	// Values are a Map's values or a List's items.
	Values []*Node
	// Pos is where the value begins.
	Pos Position
	// Quoted says that a scalar was written in quotes or as a block.
	Quoted bool

	source *Source
	// verbatim says that the text stands in the source as it is, also one that
	// begins with a quote.
	verbatim bool
	// parts are the texts that this one is put together from.
	parts []*Node
}

// Joined returns a text that is put together from others, at the place of the first. What
// is wrong in one of them is found there.
func Joined(parts ...*Node) *Node {
	out := &Node{Kind: String, Quoted: true, Pos: parts[0].Pos, parts: parts}
	for _, p := range parts {
		out.Text += p.Text
	}
	return out
}

// Parts returns the texts that a text is put together from: itself, if it is written as one.
func (n *Node) Parts() []*Node {
	if n.parts == nil {
		return []*Node{n}
	}
	return n.parts
}

// Verbatim returns a string that was given by itself, not in YAML; file names where
// it was given.
func Verbatim(file, text string) *Node {
	return &Node{Kind: String, Text: text, Pos: Position{File: file, Line: 1, Column: 1}, Quoted: true, source: NewSource(file, []byte(text)), verbatim: true}
}

// Get returns the value of a map's key, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i, k := range n.Keys {
		if k.Text == key {
			return n.Values[i]
		}
	}
	return nil
}

// With returns a copy of a map in which a key has another value.
func (n *Node) With(key string, v *Node) *Node {
	out := *n
	out.Keys, out.Values = slices.Clone(n.Keys), slices.Clone(n.Values)
	for i, k := range n.Keys {
		if k.Text == key {
			out.Values[i] = v
			return &out
		}
	}
	out.Keys = append(out.Keys, &Node{Kind: String, Text: key, Pos: v.Pos})
	out.Values = append(out.Values, v)
	return &out
}

// NewText returns a text in quotes.
func NewText(at Position, text string) *Node {
	return &Node{Kind: String, Text: text, Quoted: true, Pos: at}
}

// NewList returns a list of nodes.
func NewList(at Position, items ...*Node) *Node { return &Node{Kind: List, Values: items, Pos: at} }

// Items returns a list's items; none for anything else.
func (n *Node) Items() []*Node {
	if n == nil || n.Kind != List {
		return nil
	}
	return n.Values
}

// Walk visits a value and everything in it; key is the field that holds it, ""
// for the items of a list and the value itself.
func (n *Node) Walk(visit func(key string, n *Node)) { n.walk("", visit) }

func (n *Node) walk(key string, visit func(key string, n *Node)) {
	if n == nil {
		return
	}
	visit(key, n)
	for i, v := range n.Values {
		name := ""
		if n.Kind == Map {
			name = n.Keys[i].Text
		}
		v.walk(name, visit)
	}
}

// At returns the place of a character of a scalar's value, counted in
// characters from 0. Block scalars, folding and escapes are followed, so the
// inside of an expression is found in the file that its author sees.
func (n *Node) At(offset int) Position {
	if n.source == nil || n.Pos.Line == 0 {
		return n.Pos
	}
	return n.source.locate(n, offset)
}

// Written reports whether the value stands in a file; one that was derived does not.
func (n *Node) Written() bool { return n.source != nil }

// SourceLine returns the text of the line a position stands on.
func (n *Node) SourceLine(line int) string {
	if n == nil || n.source == nil {
		return ""
	}
	return n.source.Line(line)
}
