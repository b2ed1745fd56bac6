package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
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
	"minus": both(numeric, joinedSets), "and": joinedSets, "or": joinedSets, "intersection": joinedSets, "union": joinedSets,
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

// maxHashed is how many items that are no texts sets may have that are joined:
// OPA finds them by sums of small numbers, so they mostly collide, and joining
// them takes time with the square of their number.
const maxHashed = 5_000

// joinedSets is for a function of sets, or of a set of sets.
func joinedSets(l *limiter, args []*ast.Term) {
	count := 0
	var add func(*ast.Term)
	add = func(t *ast.Term) {
		if inner, ok := t.Value.(ast.Set); ok {
			inner.Foreach(add)
		} else if _, ok := t.Value.(ast.String); !ok {
			count++
		}
	}
	walked(l, args)
	if l.why != nil {
		return
	}
	for _, t := range args {
		add(t)
	}
	if count > maxHashed {
		l.stop("it joins sets of more than %d items that are no texts", maxHashed)
	}
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
