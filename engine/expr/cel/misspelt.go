package cel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/document"
)

// unknownCalls are the calls in an expression of functions that do not exist, and what
// CEL complains about only because of them.
type unknownCalls struct {
	// names are what was called, by the expression that CEL complains about.
	names map[int64]string
	// follow are the expressions about which nothing more is said.
	follow map[int64]bool
}

// unknownCallsIn finds them in what CEL found wrong with an expression.
func (h hinting) unknownCallsIn(parsed *cel.Ast, issues []*common.Error) unknownCalls {
	out := unknownCalls{names: map[int64]string{}, follow: map[int64]bool{}}
	if parsed == nil {
		return out
	}
	undefined := map[int64]bool{}
	for _, issue := range issues {
		if undeclared.MatchString(issue.Message) {
			undefined[issue.ExprID] = true
		}
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.CallKind {
			return
		}
		call := x.AsCall()
		if library := libraryOf(call); library != nil && undefined[library.ID()] && h.isLibrary(library.AsIdent(), call.FunctionName()) {
			out.names[library.ID()] = library.AsIdent() + "." + call.FunctionName()
			out.follow[x.ID()] = true
			out.loop(call, undefined)
			return
		}
		if !undefined[x.ID()] {
			return
		}
		out.names[x.ID()] = call.FunctionName()
		out.loop(call, undefined)
	}))
	return out
}

// loop leaves out what is said of names in the arguments of a loop: of the one that a loop of
// an unknown name would bind, and of all in a loop that is called with other arguments.
func (u unknownCalls) loop(call ast.CallExpr, undefined map[int64]bool) {
	args := call.Args()
	if len(args) > 0 && args[0].Kind() == ast.IdentKind && undefined[args[0].ID()] {
		u.bindings(args[0].AsIdent(), args)
	}
	if _, known := macroForms[call.FunctionName()]; !known {
		return
	}
	for _, arg := range args {
		ast.PostOrderVisit(arg, ast.NewExprVisitor(func(x ast.Expr) {
			u.follow[x.ID()] = u.follow[x.ID()] || x.Kind() == ast.IdentKind && undefined[x.ID()]
		}))
	}
}

// bindings leaves out what is said of the name that a loop of an unknown name would bind.
func (u unknownCalls) bindings(name string, args []ast.Expr) {
	for _, arg := range args {
		ast.PostOrderVisit(arg, ast.NewExprVisitor(func(x ast.Expr) {
			if x.Kind() == ast.IdentKind && x.AsIdent() == name {
				u.follow[x.ID()] = true
			}
		}))
	}
}

// libraryOf returns the name that a function is called on, as in math.greatest(x); nil if
// it is called on something else.
func libraryOf(call ast.CallExpr) ast.Expr {
	if call.IsMemberFunction() && call.Target().Kind() == ast.IdentKind {
		return call.Target()
	}
	return nil
}

// isLibrary reports whether a name on which a function is called is the name of a library,
// or with a mistake in it that of a library that has the function. Otherwise it is the name
// that is wrong: contains is also called on values.
func (h hinting) isLibrary(name, function string) bool {
	name = strings.ToLower(name)
	if _, known := elsewhere[name+"."+function]; known {
		return true
	}
	return slices.ContainsFunc(h.env.callable(), func(f string) bool {
		library, of, _ := strings.Cut(f, ".")
		return library == name && of != "" || of == function && document.DidYouMean(name, []string{library}) != ""
	})
}

// callable returns the names of all functions and macros of an environment; fold is
// called on a list, not on a library.
func callable(e *Env) []string {
	out := slices.AppendSeq(e.Macros(), maps.Keys(e.Signatures()))
	out = slices.AppendSeq(out, maps.Keys(e.functions))
	for i, name := range out {
		out[i] = strings.TrimPrefix(name, "list.")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// macroForms are how the macros are called that take names or fields.
var macroForms = map[string]string{
	"all": "list.all(x, condition)", "exists": "list.exists(x, condition)", "exists_one": "list.exists_one(x, condition)", "existsOne": "list.existsOne(x, condition)",
	CountDistinct: "countDistinct(list, x, e)",
	"map":         "list.map(x, e), or list.map(x, condition, e)", "filter": "list.filter(x, condition)", "has": "has(a.b)",
	"fold": "list.fold(acc, init, x, e)", "optMap": "x.optMap(v, e)", "optFlatMap": "x.optFlatMap(v, e)", "sortBy": "list.sortBy(x, e)",
	"transformList": "list.transformList(i, x, e)", "transformMap": "map.transformMap(k, v, e)", "transformMapEntry": "map.transformMapEntry(k, v, {key: value})",
}

// explainCall says that a function does not exist, and which one was probably meant.
func (h hinting) explainCall(name string, guess bool) (text, hint string) {
	if form, ok := macroForms[name]; ok {
		return fmt.Sprintf("%s takes other arguments", name), "it is called as " + form
	}
	text = fmt.Sprintf("no function is called %q", name)
	if guess {
		hint = h.callHint(name)
	}
	return text, hint
}

func (h hinting) callHint(name string) string {
	if known, ok := elsewhere[name]; ok {
		return "write " + known
	}
	if slices.Contains(h.env.Names(), name) {
		return fmt.Sprintf("%s is a value, not a function: leave out the brackets", name)
	}
	known := h.env.callable()
	library, bare, qualified := strings.Cut(name, ".")
	if other, ok := elsewhere[strings.ToLower(library)+"."+bare]; ok {
		return "write " + other
	}
	if !qualified {
		return cmp.Or(ofLibrary(name, known), document.DidYouMean(name, known))
	}
	var own []string // what is alike in two names is more than their library
	for _, k := range known {
		if rest, ok := strings.CutPrefix(k, library+"."); ok {
			own = append(own, rest)
		}
	}
	other, ok := elsewhere[bare]
	switch hint := document.DidYouMean(bare, own); {
	case hint != "":
		return strings.Replace(hint, `"`, `"`+library+".", 1)
	case ok:
		return "write " + other
	case len(own) == 0:
		return cmp.Or(document.DidYouMean(name, known), ofLibrary(bare, known))
	case slices.Contains(known, bare):
		return fmt.Sprintf("%s is called on a value: x.%s(...)", bare, bare)
	case len(own) <= maxInScope:
		return library + " has " + strings.Join(own, ", ")
	}
	return ""
}

// ofLibrary names the functions of libraries that have a name without its library.
func ofLibrary(bare string, known []string) string {
	var same []string
	for _, k := range known {
		if strings.HasSuffix(k, "."+bare) {
			same = append(same, k)
		}
	}
	if len(same) == 0 || len(same) > 3 {
		return ""
	}
	return "write " + strings.Join(same, ", or ")
}
