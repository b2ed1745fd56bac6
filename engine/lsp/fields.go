package lsp

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	docschema "github.com/edict-dev/edict/docs/schema"
	"github.com/edict-dev/edict/engine/document"
)

type object = map[string]any

var (
	keyOf    = regexp.MustCompile(`^(\s*)((?:- +)*)([\w./-]+):(?:\s|$)`)
	kindLine = regexp.MustCompile(`(?m)^kind: *(\w+)`)
)

// above returns the fields that lead to the one at a column of a line, by the
// indentation of the lines above.
func (t *textOf) above(line, column int) (out []string) {
	for i := line - 1; i >= 0 && !strings.HasPrefix(t.lines[i], "---"); i-- {
		m := keyOf.FindStringSubmatch(t.lines[i])
		if m == nil {
			if dash := strings.TrimLeft(t.lines[i], " "); strings.HasPrefix(dash, "-") {
				column = min(column, len(t.lines[i])-len(dash)+1)
			}
			continue
		}
		if key := len(m[1]) + len(m[2]); key < column {
			out, column = append(out, m[3]), key
		}
		if m[2] != "" && len(m[1]) < column {
			column = len(m[1]) + 1
		}
	}
	slices.Reverse(out)
	return out
}

// start returns the column of the first word of a line, behind dashes.
func start(line string) int {
	return len(line) - len(strings.TrimLeft(line, " -"))
}

// fields completes the names of fields, and values of which there are few.
func (t *textOf) fields(p document.Position) (out []CompletionItem) {
	before, line := t.before(p), p.Line-1
	from := start(before)
	path := t.above(line, from)
	if strings.HasPrefix(strings.TrimSpace(before), "- ") || strings.TrimSpace(before) == "-" {
		path = t.above(line, strings.Index(before, "-")+1)
	}
	if m := keyOf.FindStringSubmatch(before); m != nil {
		for _, value := range t.enum(append(path, m[3]), p) {
			out = append(out, CompletionItem{Label: value, Kind: kindValue})
		}
		return out
	}
	known := t.schemaAt(path, p)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		text, _ := known[name]["description"].(string)
		out = append(out, CompletionItem{Label: name, Kind: kindProperty, Detail: text})
	}
	return out
}

// enum returns the values that a field may have.
func (t *textOf) enum(path []string, p document.Position) (out []string) {
	last := len(path) - 1
	values, _ := t.schemaAt(path[:last], p)[path[last]]["enum"].([]any)
	for _, v := range values {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// schemaAt returns the fields below a path of the document that a place is in.
func (t *textOf) schemaAt(path []string, p document.Position) map[string]object {
	root := schemaOf(t.kind(p.Line - 1))
	at := []object{root}
	for _, name := range path {
		var next []object
		for _, s := range spread(root, at) {
			if of := property(s, name); of != nil {
				next = append(next, of)
			}
		}
		at = next
	}
	out := map[string]object{}
	for _, s := range spread(root, at) {
		properties, _ := s["properties"].(object)
		for name, of := range properties {
			out[name], _ = of.(object)
		}
	}
	return out
}

func property(s object, name string) object {
	if properties, ok := s["properties"].(object); ok {
		if of, ok := properties[name].(object); ok {
			return of
		}
	}
	of, _ := s["additionalProperties"].(object)
	return of
}

// spread returns the schemas of the mappings that some schemas stand for: those that
// they refer to, alternatives, and items of lists.
func spread(root object, list []object) (out []object) {
	for len(list) > 0 {
		s := list[0]
		list = list[1:]
		if ref, ok := s["$ref"].(string); ok {
			definitions, _ := root["definitions"].(object)
			s, _ = definitions[strings.TrimPrefix(ref, "#/definitions/")].(object)
		}
		out = append(out, s)
		for _, key := range []string{"allOf", "anyOf"} {
			parts, _ := s[key].([]any)
			for _, part := range parts {
				list = append(list, part.(object))
			}
		}
		for _, key := range []string{"items", "then"} {
			if part, ok := s[key].(object); ok {
				list = append(list, part)
			}
		}
	}
	return out
}

// kind returns the kind of the document that a line is in.
func (t *textOf) kind(line int) string {
	from, to := min(line, len(t.lines)-1), line
	for from > 0 && !strings.HasPrefix(t.lines[from], "---") {
		from--
	}
	for to+1 < len(t.lines) && !strings.HasPrefix(t.lines[to+1], "---") {
		to++
	}
	if m := kindLine.FindStringSubmatch(strings.Join(t.lines[max(from, 0):min(to+1, len(t.lines))], "\n")); m != nil {
		return m[1]
	}
	return "Policy"
}

func schemaOf(kind string) (out object) {
	text, ok := docschema.Read(docschema.Of(kind))
	if !ok || json.Unmarshal(text, &out) != nil {
		return object{}
	}
	return out
}
