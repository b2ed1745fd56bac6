package format

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// Text returns a file with its documents formatted. Documents that are none of
// Edict stay as they are. A text that is not valid YAML is an error.
func Text(name string, text []byte) ([]byte, error) {
	before, err := plain(name, text)
	if err != nil {
		return nil, err
	}
	docs := split(string(text))
	for i, d := range docs {
		if docs[i], err = one(d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	out := []byte(strings.Join(docs, ""))
	if after, err := plain(name, out); err != nil || !reflect.DeepEqual(before, after) {
		return nil, fmt.Errorf("%s: cannot be formatted without a change of what it says; the indentation of a text of several lines is the usual cause: write it as a block (|) that is indented as its neighbours are", changed(name, text, out))
	}
	return out, nil
}

// plain returns the values of the documents of a file.
func plain(name string, text []byte) (out []any, err error) {
	var problems document.Problems
	for _, n := range document.ParseUnbounded(name, text, &problems) {
		out = append(out, n.Plain())
	}
	return out, problems.Err()
}

// split parts a file into its documents. Each but the first begins with its ---.
func split(text string) (out []string) {
	start, at := 0, 0
	for line := range strings.Lines(text) {
		if at > 0 && isMarker(line) {
			out, start = append(out, text[start:at]), at
		}
		at += len(line)
	}
	return append(out, text[start:])
}

func isMarker(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "---")
	return ok && (rest == "" || rest[0] == ' ')
}

// one formats a document.
func one(text string) (string, error) {
	root := parse(text)
	if !ours(root) {
		return text, nil
	}
	lines := newLines(text)
	lines.indent(root)
	text = lines.String()
	if root = parse(text); root == nil {
		return "", errIndentation
	}
	return tidy(sorted(text, root)), nil
}

var errIndentation = errors.New("its indentation cannot be changed: put texts of several lines into blocks")

// parse returns the mapping of a document; nil when it is something else.
func parse(text string) *yaml.Node {
	var n yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader([]byte(text))).Decode(&n); err != nil {
		return nil // an empty document; errors were found before
	}
	if len(n.Content) != 1 || !isBlock(n.Content[0], yaml.MappingNode) {
		return nil
	}
	return n.Content[0]
}

func isBlock(n *yaml.Node, kind yaml.Kind) bool {
	return n.Kind == kind && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// ours reports whether a document is one of Edict.
func ours(root *yaml.Node) bool {
	if root == nil {
		return false
	}
	_, version := field(root, "apiVersion")
	return version != nil && version.Value == v1alpha1.APIVersion
}

// field returns the key and the value of a field; nil when there is none.
func field(m *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}
