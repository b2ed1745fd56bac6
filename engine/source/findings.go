package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// Findings puts together what is found in policies. What is found in each policy of a
// document for several kinds is one finding; what is found in some of them only names
// their kinds. The zero value is empty.
type Findings struct {
	documents []*findings
}

// findings are those in the policies of one document.
type findings struct {
	of *Unit
	// units counts the policies, whole those without an error: what does not compile has
	// not all of its warnings.
	units, whole int
	list         []finding
}

// finding is a problem with the kinds that have it.
type finding struct {
	document.Problem
	kinds []string
	// own is the message with the name of the policy instead of its document's, or empty if the
	// message has neither.
	own string
}

// Add adds what is found in a policy.
func (f *Findings) Add(u *Unit, list []document.Problem) {
	d := f.document(u)
	d.units++
	if !document.HasErrors(list) {
		d.whole++
	}
	for _, p := range list {
		d.add(u, p)
	}
}

// document returns the findings in the document of a policy.
func (f *Findings) document(u *Unit) *findings {
	for _, d := range slices.Backward(f.documents) {
		if d.of.Document.Of != "" && d.of.Document.Of == u.Document.Of && d.of.Document.Pos == u.Document.Pos {
			return d
		}
	}
	d := &findings{of: u}
	f.documents = append(f.documents, d)
	return d
}

// add adds a problem. One policy may have the same one twice, and hints may differ: a name
// that is suggested is that of a field of the kind.
func (d *findings) add(u *Unit, p document.Problem) {
	kind := u.Document.Spec.For.Kind.Value
	own := ""
	if strings.Contains(p.Message, u.Name()) {
		own = p.Message
		p.Message = strings.Replace(p.Message, "the policy "+u.Name()+" ", "the policy "+cmp.Or(u.Document.Of, u.Name())+" ", 1)
	}
	at := slices.IndexFunc(d.list, func(f finding) bool {
		f.Hint = p.Hint
		return f.Problem == p && !slices.Contains(f.kinds, kind)
	})
	if at < 0 || u.Document.Of == "" {
		d.list = append(d.list, finding{p, []string{kind}, own})
		return
	}
	d.list[at].kinds, d.list[at].Hint = append(d.list[at].kinds, kind), both(d.list[at].Hint, p.Hint)
}

// both returns the first of two hints, with the further lines of the other if their first
// lines are the same.
func both(one, other string) string {
	first, rest, more := strings.Cut(other, "\n")
	if one != other && more && strings.HasPrefix(one, first+"\n") {
		return one + "\n" + rest
	}
	return cmp.Or(one, other)
}

// List returns what was found, in the order in which it was added.
func (f *Findings) List() (out []document.Problem) {
	for _, d := range f.documents {
		for _, one := range d.list {
			switch n := len(one.kinds); {
			case n == 1 && one.own != "":
				one.Message = one.own
			case n < d.all(one.Severity):
				one.Message += " (" + forKinds(one.kinds) + ")"
			}
			out = append(out, one.Problem)
		}
	}
	return out
}

// all is the number of policies that have a finding of a severity if each has it.
func (d *findings) all(s document.Severity) int {
	if s == document.Error {
		return d.units
	}
	return d.whole
}

// forKinds names the kinds that have a finding.
func forKinds(kinds []string) string {
	if len(kinds) == 1 {
		return "for the kind " + kinds[0]
	}
	return fmt.Sprintf("for the kinds %s and %s", strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1])
}
