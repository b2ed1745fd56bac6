package guard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/identity"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Lack is an allowance that a policy needs and does not have.
type Lack struct {
	// Policy is the name of the policy.
	Policy string
	schema.GVK
	// Field is as in Allowance.
	Field string
	// Position is where the text needs it.
	document.Position

	need          need
	message, hint string
}

// Problem is the error about the policy, with the allowance to add.
func (l Lack) Problem() document.Problem {
	return document.Problem{Position: l.Position, Severity: document.Error, Message: l.message, Hint: l.hint}
}

// Problems returns an error for each kind of which allowances are lacking, at the
// place that needs the first.
func Problems(lacks []Lack) (out []document.Problem) {
	said := map[schema.GVK]bool{}
	for _, l := range lacks {
		if said[l.GVK] {
			continue
		}
		said[l.GVK] = true
		p := l.Problem()
		var more []string
		for _, other := range lacks {
			if other.GVK == l.GVK && other.Field != l.Field {
				more = append(more, other.Field)
			}
		}
		if len(more) > 0 {
			p.Message += fmt.Sprintf(" (and %s)", strings.Join(more, ", "))
		}
		out = append(out, p)
	}
	return out
}

// Lacks returns the allowances that a policy lacks, as far as its text tells:
// kind, field and verb are written out. What is computed is checked when it is
// about to be written. One in the shadow only reads.
func (g *Guard) Lacks(p *plan.Policy) []Lack {
	f := finder{grants: g.Of(p), policy: p}
	f.reads()
	if p.Mode == plan.Enforce {
		f.writes()
	}
	f.hints()
	f.obeys()
	return f.lacks
}

// hints says of each lack what to add, for all that is lacking of a kind; or why
// an allowance for the policy's name does not hold.
func (f *finder) hints() {
	for i := range f.lacks {
		l := &f.lacks[i]
		var fields []string
		for _, other := range f.lacks {
			if other.GVK == l.GVK {
				fields = append(fields, other.Field)
			}
		}
		l.hint = "add to spec.allow of the PolicySet, or to a file of --allowances: " + entry(l.Policy, l.GVK, fields...)
		for i := range f.grants.guard.Allowed {
			if why := f.holdsNot(&f.grants.guard.Allowed[i], l); why != "" {
				l.hint = why
			}
		}
	}
}

// entry returns the allowance of a policy for fields of a kind, as a document has it.
func entry(policy string, gvk schema.GVK, fields ...string) string {
	quoted := make([]string, len(fields))
	for i, field := range fields {
		quoted[i] = strconv.Quote(field)
	}
	return fmt.Sprintf("{policy: %s, apiGroup: %q, kind: %s, fields: [%s]}", policy, gvk.Group(), gvk.Kind, strings.Join(quoted, ", "))
}

// holdsNot says why an allowance for what is lacking does not hold; "" if it is for
// something else.
func (f *finder) holdsNot(a *Allowance, l *Lack) string {
	if !a.covers(l.need, "") {
		return ""
	}
	if a.Policy != "" && a.Policy == identity.PolicyID(f.policy.Set, f.policy.Of) {
		return fmt.Sprintf("there is an allowance for %s, which is the document of this policy: an allowance names one policy, %s", a.Policy, l.Policy)
	}
	return ""
}
