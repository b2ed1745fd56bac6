package source

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
)

// Unit is one policy as it was written, with all that its meaning depends on
// besides the types of the kinds.
type Unit struct {
	Document *v1alpha1.Policy
	// File is the file that the document stands in.
	File load.Source
	// Set is the PolicySet that runs it; empty if it is of a file. ShadowOf is the set with the policy
	// that it is compared with, Account the ServiceAccount that it writes as, if not the default.
	Set, ShadowOf, Account string
	// TextRevision is the revision of the ConfigMap that has the file; empty if there is none.
	TextRevision string
	// Rights identifies what the policy may do: with other rights it is another one.
	Rights string
	// Modules are the Rego modules beside the file, also those of tests.
	Modules []rego.Module
	// Overrides are the values given for the policy's params.
	Overrides map[string]compile.Override
	// Seen, if set, is told of each expression with the names that it may use.
	Seen func(n *document.Node, env *cel.Env)
	// Mode, if not "", is the mode that was asked for from outside the document.
	Mode string
	// Unread are errors in what decides about the policy from outside of the
	// document: the values for its params, or its mode.
	Unread []document.Problem
}

// With returns the unit with values for its params, which win over those that it has.
func (u *Unit) With(typed compile.Overrides) *Unit {
	values := typed.For(u.Name(), u.Document.Of)
	if len(values) == 0 {
		return u
	}
	out := *u
	out.Overrides = compile.Overrides{"": u.Overrides}.With(compile.Overrides{"": values})[""]
	return &out
}

// InNoSet returns the unit as it is in a file, for tests.
func (u *Unit) InNoSet() *Unit {
	out, doc := *u, *u.Document
	doc.Set = ""
	out.Document, out.Set, out.ShadowOf, out.Mode, out.Overrides, out.Unread = &doc, "", "", "", nil, nil
	return &out
}

// Name is the policy's name.
func (u *Unit) Name() string { return u.Document.Metadata.Name.Value }

// Named reports whether a name is that of the policy, or of its document.
func (u *Unit) Named(name string) bool {
	return name == u.Name() || u.Document.Of != "" && name == u.Document.Of
}

// ID returns SET/POLICY; of a policy of a file it returns the name.
func (u *Unit) ID() string { return identity.PolicyID(u.Set, u.Name()) }

// Disabled reports whether the policy is switched off, also when it is not right.
func (u *Unit) Disabled() bool { return u.mode() == v1alpha1.ModeDisabled }

func (u *Unit) mode() string {
	if u.Mode != "" {
		return u.Mode
	}
	return u.Document.Spec.Mode.Value
}

// Revision is a short hash of what the policy decides by.
func (u *Unit) Revision() string { return compile.Revision(u.Document, u.Modules, u.Overrides) }

// Same reports whether another unit decides the same, in the same mode.
func (u *Unit) Same(other *Unit) bool {
	return other != nil && u.Revision() == other.Revision() && u.mode() == other.mode() && u.Account == other.Account && u.ShadowOf == other.ShadowOf && u.Rights == other.Rights && slices.Equal(u.Unread, other.Unread)
}

// SamePlace reports whether another unit stands in the same file with the same text, so
// that problems are in the same lines.
func (u *Unit) SamePlace(other *Unit) bool {
	return u.File.Path == other.File.Path && bytes.Equal(u.File.Text, other.File.Text)
}

// compile compiles the policy; its Rego is compiled and run by an evaluator.
func (u *Unit) compile(c *compile.Compiler, in rego.Evaluator) (*plan.Policy, []document.Problem) {
	p, problems := c.Policy(u.Document, compile.PolicyOptions{
		Modules: slices.DeleteFunc(slices.Clone(u.Modules), rego.Module.IsTest), Rego: in, Params: u.Overrides, Seen: u.Seen,
	})
	return p, u.withLines(problems)
}

// placed returns a result for a unit, with a plan of its own.
func (u *Unit) placed(r *result) (*plan.Policy, []document.Problem, error) {
	if r.plan == nil {
		return nil, slices.Clone(r.problems), r.err
	}
	p := *r.plan
	if u.Mode != "" {
		p.Mode = plan.Mode(u.Mode)
	}
	p.Set, p.ShadowOf, p.Account = u.Set, u.ShadowOf, u.Account
	return &p, slices.Clone(r.problems), nil
}

// digest identifies all that the policy is compiled by: the types, and where it stands.
func (u *Unit) digest(types digest) digest {
	h := sha256.New()
	fmt.Fprintf(h, "%x %s %v %q %q %v %v", types, u.Revision(), u.Document.Pos, u.Document.Set, u.File.Text, u.Modules, u.Overrides)
	return digest(h.Sum(nil))
}

// withLines adds the source lines to problems that have none yet.
func (u *Unit) withLines(list []document.Problem) []document.Problem {
	text := document.NewSource(u.File.Path, u.File.Text)
	for i := range list {
		if list[i].Source == "" && list[i].File == u.File.Path {
			list[i].Source = text.Line(list[i].Line)
		}
	}
	return list
}
