package graph

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// condition is one of those that must all hold for a rule to run.
type condition struct {
	text string
	// domain is what values of what field it asks for, if asks says that it does.
	domain analyze.Domain
	asks   bool
	// local says that it is about the primary object alone.
	local bool
}

// conditionsOf returns the conditions of a rule.
func conditionsOf(r *plan.Rule) (out []condition) {
	for _, p := range parts(r.When) {
		c := condition{text: p.Source(), local: local(p)}
		c.domain, c.asks = analyze.DomainOf(p, p.Tree().Expr())
		out = append(out, c)
	}
	return out
}

// parts are the conditions that must all hold.
func parts(p *cel.Program) []*cel.Program {
	if p == nil {
		return nil
	}
	c := analyze.ConditionOf(p)
	if c.Form != analyze.And {
		return []*cel.Program{p}
	}
	var out []*cel.Program
	for _, part := range c.Parts {
		out = append(out, parts(part.Program)...)
	}
	return out
}

// local reports whether a condition is about the primary object alone.
func local(p *cel.Program) bool {
	for name := range p.Names() {
		if name != "object" && name != "key.name" && name != "key.namespace" {
			return false
		}
	}
	return true
}

// prevents reports whether a write of an object makes one of the conditions of a rule
// false: the rule then does nothing because of it.
func prevents(w Write, conditions []condition) bool {
	for i := range conditions {
		d := &conditions[i].domain
		if !conditions[i].asks || len(d.Texts) == 0 {
			continue
		}
		for field, v := range w.Values {
			if text, isText := value.Str(v); isText && d.Subject == "object."+field && !slices.Contains(d.Texts, text) {
				return true
			}
		}
	}
	return false
}

// Exclusive reports whether the rules of two writes never fire for the same primary object:
// their conditions ask for different values of one field of it, or one is the opposite of
// the other.
func Exclusive(a, b Write) bool {
	for i := range a.conditions {
		x := &a.conditions[i]
		for j := range b.conditions {
			y := &b.conditions[j]
			if negates(x.text, y.text) || negates(y.text, x.text) {
				return x.local && y.local
			}
			if x.local && exclude(x, y) {
				return true
			}
		}
	}
	return false
}

// exclude reports whether two conditions ask for different values of one field.
func exclude(x, y *condition) bool {
	return x.asks && y.asks && x.domain.Subject == y.domain.Subject && (len(x.domain.Texts) == 0) == (len(y.domain.Texts) == 0) && x.domain.Intersect(y.domain).Empty()
}

// negates reports whether a text is another one with ! before it.
func negates(x, y string) bool {
	rest, ok := strings.CutPrefix(x, "!")
	return ok && (rest == y || len(rest) == len(y)+2 && rest[0] == '(' && rest[1:len(rest)-1] == y && rest[len(rest)-1] == ')')
}
