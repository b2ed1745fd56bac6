package policytest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/document"
)

// replacement is another value for a list or a mapping of a file.
type replacement struct {
	At document.Position
	// Old is what the list or mapping says.
	Old, New any
}

// replaceAll returns a file with other values at some places; everything else stays as it
// is. A value stays in one line if it was and is short enough. It is an error if
// something else stands at a place than it should, or two values belong there.
func replaceAll(name string, text []byte, list []replacement) ([]byte, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b replacement) int { // from the end: places before stay where they are
		return cmp.Or(cmp.Compare(b.At.Line, a.At.Line), cmp.Compare(b.At.Column, a.At.Column))
	})
	for i, r := range list {
		if i > 0 && list[i-1].At == r.At {
			if reflect.DeepEqual(list[i-1].New, r.New) {
				continue
			}
			return nil, fmt.Errorf("%s: two different values are wanted here", r.At)
		}
		var err error
		if text, err = replace(name, text, r); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func replace(name string, text []byte, r replacement) ([]byte, error) {
	var problems document.Problems
	var was *document.Node
	for _, n := range document.ParseUnbounded(name, text, &problems) {
		if was == nil {
			was = find(n, r.At)
		}
	}
	place := placeOf(text, r.At)
	if was == nil || place == nil || !reflect.DeepEqual(was.Plain(), r.Old) {
		return nil, fmt.Errorf("%s: what is written here is not what the value is made of; change it by hand", r.At)
	}
	lines := strings.SplitAfter(string(text), "\n")
	before, rest := cut(lines, place.node.Line, place.node.Column)
	end := place.end(rest)
	value := place.write(r.New)
	if strings.HasPrefix(value, "\n") {
		before = strings.TrimRight(before, " ")
	}
	out := before + value + rest[end:]
	document.ParseUnbounded(name, []byte(out), &problems)
	return []byte(out), problems.Err()
}

// cut parts a text before a character of a line.
func cut(lines []string, line, column int) (before, rest string) {
	whole := []rune(lines[line-1])
	return strings.Join(lines[:line-1], "") + string(whole[:column-1]), string(whole[column-1:]) + strings.Join(lines[line:], "")
}

// step is how far a level is indented.
const step = 2

// place is where a list or mapping stands.
type place struct {
	node *yaml.Node
	// inside says that it is part of a value in one line; deeper is the column, from 0,
	// at which it would go on below its key.
	inside bool
	deeper int
}

func placeOf(text []byte, at document.Position) (found *place) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for found == nil {
		var n yaml.Node
		if err := decoder.Decode(&n); errors.Is(err, io.EOF) || err != nil {
			return nil
		}
		found = search(&n, place{}, at)
	}
	return found
}

func search(n *yaml.Node, p place, at document.Position) *place {
	if (n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode) && n.Line == at.Line && n.Column == at.Column {
		p.node = n
		return &p
	}
	p.inside = p.inside || n.Kind != yaml.DocumentNode && n.Style&yaml.FlowStyle != 0
	for i, inner := range n.Content {
		if p.deeper = inner.Column - 1; n.Kind == yaml.MappingNode && i%2 == 1 {
			p.deeper = n.Content[i-1].Column - 1 + step
		}
		if found := search(inner, p, at); found != nil {
			return found
		}
	}
	return nil
}

func (p *place) flow() bool { return p.node.Style&yaml.FlowStyle != 0 }

// end returns how long the value is at the beginning of a text.
func (p *place) end(text string) int {
	if p.flow() {
		return bracketsEnd(text)
	}
	column, size, at := p.node.Column-1, 0, 0
	for line := range strings.Lines(text) {
		at += len(line)
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case size == 0: // the first line begins in the middle
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			continue // it belongs to the value if more of it follows
		case depth < column, depth == column && p.node.Kind == yaml.SequenceNode && !strings.HasPrefix(trimmed, "-"), strings.HasPrefix(line, "---"):
			return size
		}
		size = at - len(line) + len(strings.TrimRight(line, "\r\n"))
	}
	return size
}

// bracketsEnd returns where the bracket closes that a text begins with.
func bracketsEnd(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
