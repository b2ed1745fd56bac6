package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Domain are the values of one expression for which a condition holds: texts, or
// ranges of whole numbers.
type Domain struct {
	// Subject is the expression that is compared, Of its syntax tree.
	Subject string
	Of      ast.Expr
	// Texts are sorted after Union, and so are Ranges, which do not touch then.
	Texts  []string
	Ranges []Span
}

// Span are the whole numbers from one to another, both included.
type Span struct{ From, To int64 }

// DomainOf takes a condition apart that compares one expression with literals, joined
// by && and ||; false for any other.
func DomainOf(p *cel.Program, e ast.Expr) (Domain, bool) {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return Domain{}, false
	}
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch name := e.AsCall().FunctionName(); name {
	case operators.LogicalAnd, operators.LogicalOr:
		left, ok := DomainOf(p, a)
		right, also := DomainOf(p, b)
		if !ok || !also || left.Subject != right.Subject || (left.Ranges == nil) != (right.Ranges == nil) {
			return Domain{}, false
		}
		if name == operators.LogicalAnd {
			return left.Intersect(right), true
		}
		return left.Union(right), true
	case operators.In:
		return members(p, a, b)
	default:
		if a.Kind() == ast.LiteralKind {
			a, b, name = b, a, mirrored[name]
		}
		if b.Kind() != ast.LiteralKind || a.Kind() == ast.LiteralKind {
			return Domain{}, false
		}
		return comparison(p, name, a, b)
	}
}

// mirrored are the comparisons with their sides exchanged.
var mirrored = map[string]string{
	operators.Equals: operators.Equals, operators.Less: operators.Greater, operators.Greater: operators.Less,
	operators.LessEquals: operators.GreaterEquals, operators.GreaterEquals: operators.LessEquals,
}

func comparison(p *cel.Program, name string, a, b ast.Expr) (Domain, bool) {
	d, ok := subject(p, a)
	switch v := b.AsLiteral().(type) {
	case types.String:
		d.Texts = []string{string(v)}
		return d, ok && name == operators.Equals
	case types.Int:
		r, known := spans[name]
		if !known || int64(v) == math.MinInt64 || int64(v) == math.MaxInt64 {
			return d, false
		}
		d.Ranges = []Span{r(int64(v))}
		return d, ok && p.Tree().GetType(a.ID()).Kind() == types.IntKind
	}
	return d, false
}

var spans = map[string]func(n int64) Span{
	operators.Equals:        func(n int64) Span { return Span{n, n} },
	operators.Less:          func(n int64) Span { return Span{math.MinInt64, n - 1} },
	operators.LessEquals:    func(n int64) Span { return Span{math.MinInt64, n} },
	operators.Greater:       func(n int64) Span { return Span{n + 1, math.MaxInt64} },
	operators.GreaterEquals: func(n int64) Span { return Span{n, math.MaxInt64} },
}

func members(p *cel.Program, a, list ast.Expr) (Domain, bool) {
	d, ok := subject(p, a)
	if !ok || list.Kind() != ast.ListKind {
		return d, false
	}
	for _, item := range list.AsList().Elements() {
		text, literal := cel.LiteralString(item)
		if !literal {
			return d, false
		}
		d.Texts = append(d.Texts, text)
	}
	return d, len(d.Texts) > 0
}

func subject(p *cel.Program, e ast.Expr) (Domain, bool) {
	text, err := parser.Unparse(e, p.Tree().SourceInfo())
	return Domain{Subject: text, Of: e}, err == nil
}

// Empty reports whether there is no value for which the condition holds.
func (d Domain) Empty() bool { return len(d.Texts) == 0 && len(d.Ranges) == 0 }

// Union returns the values of both.
func (d Domain) Union(o Domain) Domain {
	out := Domain{Subject: d.Subject, Of: d.Of, Texts: slices.Concat(d.Texts, o.Texts), Ranges: slices.Concat(d.Ranges, o.Ranges)}
	slices.Sort(out.Texts)
	out.Texts = slices.Compact(out.Texts)
	slices.SortFunc(out.Ranges, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	out.Ranges = merged(out.Ranges)
	return out
}

// merged joins spans that touch; they are sorted.
func merged(list []Span) (out []Span) {
	for _, s := range list {
		if n := len(out); n > 0 && (out[n-1].To == math.MaxInt64 || s.From <= out[n-1].To+1) {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Intersect returns the values that both have.
func (d Domain) Intersect(o Domain) Domain {
	out := Domain{Subject: d.Subject, Of: d.Of}
	for _, text := range d.Texts {
		if slices.Contains(o.Texts, text) {
			out.Texts = append(out.Texts, text)
		}
	}
	for _, a := range d.Ranges {
		for _, b := range o.Ranges {
			if s := (Span{max(a.From, b.From), min(a.To, b.To)}); s.From <= s.To {
				out.Ranges = append(out.Ranges, s)
			}
		}
	}
	return out
}

// Within reports whether all of it is in another.
func (d Domain) Within(o Domain) bool {
	both := d.Intersect(o)
	return len(both.Texts) == len(d.Texts) && slices.Equal(merged(both.Ranges), merged(d.Ranges))
}

// String writes the values.
func (d Domain) String() string {
	var out []string
	for _, text := range d.Texts {
		out = append(out, fmt.Sprintf("%q", text))
	}
	for _, s := range d.Ranges {
		if s.From == s.To {
			out = append(out, fmt.Sprint(s.From))
		} else {
			out = append(out, fmt.Sprintf("%d to %d", s.From, s.To))
		}
	}
	return strings.Join(out, ", ")
}

// Conjuncts are the parts of a condition that must all hold, as texts.
func Conjuncts(p *cel.Program) (out []string) {
	for _, e := range Anded(p.Tree().Expr()) {
		text, err := parser.Unparse(e, p.Tree().SourceInfo())
		if err != nil {
			return []string{Tree(p)}
		}
		out = append(out, text)
	}
	return out
}
