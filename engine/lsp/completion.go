package lsp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
)

func (s *Server) completion(_ context.Context, p at) (any, error) {
	t, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	place := t.place(p.Position)
	a, c, err := s.cursor(t, place)
	if err != nil {
		return nil, err
	}
	items := []CompletionItem{}
	if c != nil {
		items = append(items, c.complete(a)...)
	} else {
		items = append(items, t.fields(place)...)
	}
	return items, nil
}

// cursor returns the expression at a place, with the analysis that found it. One that
// is still empty is looked at with a word in it.
func (s *Server) cursor(t *textOf, place document.Position) (*analysis, *cursor, error) {
	a, err := s.analyse(t)
	if err != nil {
		return nil, nil, err
	}
	if c := a.cursorAt(place); c != nil {
		return a, c, nil
	}
	if !strings.HasSuffix(strings.TrimRight(t.before(place), " "), ":") {
		return nil, nil, nil
	}
	if a, err = s.analyse(newText(t.uri, t.with(place, "x"))); err != nil {
		return nil, nil, err
	}
	return a, a.cursorAt(place), nil
}

// complete returns what may be written at the cursor, in the policies for all kinds of
// the document.
func (c *cursor) complete(a *analysis) []CompletionItem {
	items := c.completeIn(a, c.env)
	for _, env := range c.others {
		shared := map[string]bool{}
		for _, item := range c.completeIn(a, env) {
			shared[item.Label] = true
		}
		items = slices.DeleteFunc(items, func(item CompletionItem) bool { return !shared[item.Label] })
	}
	return items
}

func (c *cursor) completeIn(a *analysis, env *cel.Env) []CompletionItem {
	text := []rune(c.text)
	env = inner(env, text, c.offset)
	start := wordStart(text, c.offset)
	end := beforeDot(text, start)
	if end == start {
		return names(env)
	}
	operand := string(text[chainStart(text, end):end])
	if list := under(env, operand); len(list) > 0 {
		return list
	}
	of := env.TypeOfText(operand)
	if of == nil {
		return nil
	}
	return a.members(env, of)
}

// names returns the names that an expression may begin with.
func names(env *cel.Env) []CompletionItem {
	items := map[string]CompletionItem{}
	for _, v := range env.Vars() {
		items[v.Name] = CompletionItem{Label: v.Name, Kind: kindVariable, Detail: cel.TypeName(v.Type)}
	}
	for _, f := range env.Functions() {
		items[f.Name] = function(f, f.Name)
	}
	return sorted(items)
}

// under returns the names and builtins with a qualifier, such as inputs.x.
func under(env *cel.Env, qualifier string) []CompletionItem {
	items := map[string]CompletionItem{}
	for _, v := range env.Vars() {
		if rest, ok := strings.CutPrefix(v.Name, qualifier+"."); ok {
			items[rest] = CompletionItem{Label: rest, Kind: kindVariable, Detail: cel.TypeName(v.Type)}
		}
	}
	for _, f := range env.Functions() {
		if rest, ok := strings.CutPrefix(f.Name, qualifier+"."); ok {
			items[rest] = function(f, rest)
		}
	}
	return sorted(items)
}

func function(f *expr.Function, label string) CompletionItem {
	return CompletionItem{Label: label, Kind: kindFunction, Detail: f.Signature(), Documentation: markdown(f.Doc + "\n\n`" + f.Example + "`")}
}

// signature writes how a builtin is called.
func sorted(items map[string]CompletionItem) (out []CompletionItem) {
	for _, name := range slices.Sorted(maps.Keys(items)) {
		out = append(out, items[name])
	}
	return out
}

// members returns the fields and functions of a type.
func (a *analysis) members(env *cel.Env, of *cel.Type) (out []CompletionItem) {
	if cel.IsOptional(of) {
		out = append(out, methods["optional"]...)
	}
	inside := cel.Unwrap(of)
	if t := env.Schema(inside); t != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
			item := CompletionItem{Label: name, Kind: kindField, Detail: cel.TypeName(env.TypeOf(t.Fields[name]))}
			if text := a.description(t, name); text != "" {
				item.Documentation = markdown(text)
			}
			out = append(out, item)
		}
		return out
	}
	switch {
	case cel.IsList(inside):
		return append(out, methods["list"]...)
	case cel.IsMap(inside):
		return append(out, methods["map"]...)
	}
	return append(out, methods[cel.TypeName(inside)]...)
}

// methods are what values of a type are usually asked for.
var methods = map[string][]CompletionItem{
	"optional":  calls("orValue", "hasValue", "value", "or", "optMap", "optFlatMap"),
	"list":      calls("all", "exists", "exists_one", "filter", "map", "size", "join", "distinct", "flatten", "sort", "sortBy", "first", "last", "sum", "min", "max"),
	"map":       calls("all", "exists", "filter", "map", "size", "transformList", "transformMap", "transformMapEntry"),
	"string":    calls("contains", "startsWith", "endsWith", "matches", "split", "replace", "lowerAscii", "upperAscii", "trim", "substring", "indexOf", "size"),
	"timestamp": calls("getFullYear", "getMonth", "getDayOfWeek", "getHours", "getMinutes"),
	"duration":  calls("getHours", "getMinutes", "getSeconds"),
}

func calls(names ...string) (out []CompletionItem) {
	for _, name := range names {
		out = append(out, CompletionItem{Label: name, Kind: kindMethod})
	}
	return out
}
