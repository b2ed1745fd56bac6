package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"
)

// bound looks at the arguments of a function before it is called, and counts
// or stops what the call would cost. Functions cannot be interrupted.
type bound func(l *limiter, args []*ast.Term)

// bounds are the bounds of the functions whose cost or result grows with their
// arguments.
var bounds = map[string]bound{
	"equal": compared, "neq": compared, "lt": compared, "lte": compared, "gt": compared, "gte": compared,
	"internal.member_2": member, "internal.member_3": member,
	"plus": numeric, "mul": numeric, "div": numeric, "rem": numeric, "abs": numeric,
	"round": numeric, "ceil": numeric, "floor": numeric, "format_int": numeric,
	"sum": numeric, "product": numeric,
	"minus": both(numeric, walked), "and": walked, "or": walked, "intersection": walked, "union": walked,
	"max": walked, "min": walked, "sort": walked,
	"concat": joined, "sprintf": formatted, "replace": replaced, "strings.replace_n": replacedAll, "split": cut,
	"contains": scanned, "endswith": scanned, "indexof": scanned, "lower": scanned, "startswith": scanned,
	"substring": scanned, "upper": scanned, "trim": scanned, "trim_left": scanned, "trim_right": scanned,
	"trim_prefix": scanned, "trim_suffix": scanned, "trim_space": scanned, "strings.count": scanned,
	"strings.reverse": scanned, "base64.decode": scanned, "base64.encode": scanned, "base64.is_valid": scanned,
	"strings.any_prefix_match": walked, "strings.any_suffix_match": walked,
	"regex.is_valid": pattern, "regex.match": pattern, "glob.match": glob,
	"array.concat": walked, "array.reverse": listed, "array.slice": listed, "object.keys": listed,
	"object.filter": walked, "object.remove": walked, "object.subset": walked, "object.union": walked,
	"object.union_n": walked, "json.filter": walked, "json.remove": walked, "json.marshal": written,
	"json.unmarshal": decoded, "json.is_valid": decoded,
	"to_number": numeral, "units.parse": numeral, "units.parse_bytes": numeral,
	"semver.compare": scanned, "semver.is_valid": scanned, "net.cidr_contains": scanned,
	"time.parse_rfc3339_ns": scanned, "time.parse_duration_ns": numeral,
}

// bounded is put before the name of a function that has a bound.
const bounded = "bounded."

// builtins are the functions with a bound, by the names that rename gives.
// OPA's evaluator takes a function of its own before one of the same name.
var builtins = func() map[string]*topdown.Builtin {
	out := map[string]*topdown.Builtin{}
	for name, limit := range bounds {
		out[bounded+name] = &topdown.Builtin{
			Decl: &ast.Builtin{Name: bounded + name, Decl: ast.BuiltinMap[name].Decl},
			Func: guard(limit, topdown.GetBuiltin(name)),
		}
	}
	out[weighed] = &topdown.Builtin{
		Decl: &ast.Builtin{Name: weighed, Decl: types.NewFunction(types.Args(types.A), types.B)},
		Func: guard(walked, func(_ topdown.BuiltinContext, _ []*ast.Term, give func(*ast.Term) error) error {
			return give(ast.InternedTerm(true))
		}),
	}
	return out
}()

// weighed is a function that weighs what it is given.
const weighed = bounded + "weigh"

// weighComprehensions makes compiled modules weigh what a comprehension gave:
// one that names the result of another many times grows without a step.
func weighComprehensions(c *ast.Compiler) {
	for _, m := range c.Modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Rule:
				x.Body = weighBody(x.Body)
			case *ast.ArrayComprehension:
				x.Body = weighBody(x.Body)
			case *ast.SetComprehension:
				x.Body = weighBody(x.Body)
			case *ast.ObjectComprehension:
				x.Body = weighBody(x.Body)
			case *ast.Every:
				x.Body = weighBody(x.Body)
			}
			return false
		}).Walk(m)
	}
}

// weighBody puts a call behind each comprehension of a body; by now these are
// always the value of a variable.
func weighBody(body ast.Body) ast.Body {
	var out ast.Body
	for _, e := range body {
		out.Append(e)
		if e.IsEquality() && len(e.Operands()) == 2 && ast.IsComprehension(e.Operand(1).Value) {
			call := builtins[weighed].Decl.Expr(e.Operand(0)).SetLocation(e.Location)
			call.With, call.Generated = e.With, true
			out.Append(call)
		}
	}
	return out
}

func guard(limit bound, call topdown.BuiltinFunc) topdown.BuiltinFunc {
	return func(bctx topdown.BuiltinContext, args []*ast.Term, give func(*ast.Term) error) error {
		l, ok := bctx.Cancel.(*limiter)
		if !ok {
			return topdown.Halt{Err: ErrLimit}
		}
		if limit(l, args); l.why != nil {
			l.at = bctx.Location
			return topdown.Halt{Err: l.why}
		}
		bctx.Cancel = nil // what the call costs is counted; it would count each write of a text
		return call(bctx, args, give)
	}
}

// rename makes compiled modules call the functions with a bound. It is the
// last that is done to them: the compiler knows functions by their own names.
func rename(c *ast.Compiler) {
	for _, m := range c.Modules {
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			terms, call := e.Terms.([]*ast.Term)
			if !call || len(terms) == 0 {
				return false
			}
			if b, ok := builtins[bounded+terms[0].String()]; ok {
				terms[0] = ast.NewTerm(b.Decl.Ref()).SetLocation(terms[0].Location)
			}
			return false
		})
	}
}

func both(a, b bound) bound {
	return func(l *limiter, args []*ast.Term) { a(l, args); b(l, args) }
}

// walked is for a function that goes through all of its arguments, at most.
func walked(l *limiter, args []*ast.Term) {
	sum := 0
	for _, t := range args {
		sum += l.weigh(t)
	}
	if sum > MaxNodes {
		l.stop("it builds a value of more than %d nodes", MaxNodes)
	}
	l.work(sum / nodesPerStep)
}

// compared is walked, except that a scalar differs from anything at once.
func compared(l *limiter, args []*ast.Term) {
	if !ast.IsScalar(args[0].Value) && !ast.IsScalar(args[1].Value) {
		walked(l, args[:2])
	}
}

// member is for x in collection: a scalar is compared with each item at once.
func member(l *limiter, args []*ast.Term) {
	if len(args) > 2 && !ast.IsScalar(args[1].Value) || !ast.IsScalar(args[0].Value) {
		walked(l, args)
		return
	}
	if _, set := args[len(args)-1].Value.(ast.Set); !set {
		listed(l, args)
	}
}

// listed is for a function that touches each item once.
func listed(l *limiter, args []*ast.Term) {
	for _, t := range args {
		l.work(size(t) / itemsPerStep)
	}
}

// scanned is for a function that goes through its texts.
func scanned(l *limiter, args []*ast.Term) {
	for _, t := range args {
		l.text(len(text(t)))
	}
}

// size gives the number of a collection's items, 0 for anything else.
func size(t *ast.Term) int {
	if c, ok := t.Value.(interface{ Len() int }); ok {
		return c.Len()
	}
	return 0
}

// text gives a text, "" for anything else.
func text(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

// each calls f for every item of a list or set.
func each(t *ast.Term, f func(*ast.Term)) {
	switch c := t.Value.(type) {
	case *ast.Array:
		c.Foreach(f)
	case ast.Set:
		c.Foreach(f)
	}
}

func joined(l *limiter, args []*ast.Term) {
	sum := size(args[1]) * len(text(args[0]))
	each(args[1], func(t *ast.Term) { sum += len(text(t)) })
	l.work(size(args[1]) / itemsPerStep)
	l.text(sum)
}

func replaced(l *limiter, args []*ast.Term) {
	s, old, with := text(args[0]), text(args[1]), text(args[2])
	l.text(len(s) + strings.Count(s, old)*len(with))
}

func replacedAll(l *limiter, args []*ast.Term) {
	patterns, s := args[0], text(args[1])
	longest := 0
	if o, ok := patterns.Value.(ast.Object); ok {
		o.Foreach(func(_, with *ast.Term) { longest = max(longest, len(text(with))) })
	}
	l.text(len(s) + (len(s)+1)*longest)
	walked(l, args)
}

// cut counts the pieces of a split.
func cut(l *limiter, args []*ast.Term) {
	pieces := strings.Count(text(args[0]), text(args[1])) + 1
	if pieces > MaxNodes/2 {
		l.stop("it builds a value of more than %d nodes", MaxNodes)
	}
	l.text(len(text(args[0])))
	l.work(pieces / nodesPerStep)
}

// written is for a function that writes a value out.
func written(l *limiter, args []*ast.Term) {
	for _, t := range args {
		l.text(l.weigh(t) * bytesPerNode)
	}
}
