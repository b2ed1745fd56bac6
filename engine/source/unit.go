package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Unit is one policy as it was written, with all that its meaning depends on
// besides the types of the kinds.
type Unit struct {
	Document *v1alpha1.Policy
	// File is the file that the document stands in.
	File load.Source
	// ConfigMap is the name of the ConfigMap that has the file as a key; "" is none.
	ConfigMap string
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
	// Undecided says that a mode was asked for that is none.
	Undecided bool
}

// with returns the unit with the values for its params, and what cannot be read of them.
func (u *Unit) with(given compile.Overrides, values []*Values) *Unit {
	out := *u
	out.Overrides = given.For(u.Name(), u.Document.Of)
	out.Unread = slices.Concat(u.Unread, unreadFor(u, values))
	return &out
}

// Name is the policy's name.
func (u *Unit) Name() string { return u.Document.Metadata.Name.Value }

// Named reports whether a name is that of the policy, or of its document.
func (u *Unit) Named(name string) bool {
	return name == u.Name() || u.Document.Of != "" && name == u.Document.Of
}

// ID tells units apart that may run beside each other: a policy, and the
// revision of it that only looks on.
func (u *Unit) ID() string {
	return plan.ID{Name: u.Name(), Shadow: u.mode() == v1alpha1.ModeShadow}.String()
}

// Disabled reports whether the policy is switched off, also when it is not right.
func (u *Unit) Disabled() bool { return u.mode() == v1alpha1.ModeDisabled }

// DisabledByText reports whether the policy's own text switches it off, with or without the
// annotation of its ConfigMap.
func (u *Unit) DisabledByText() bool {
	return u.Disabled() && u.Document.Spec.Mode.Value == v1alpha1.ModeDisabled
}

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
	return other != nil && u.Revision() == other.Revision() && u.mode() == other.mode() && slices.Equal(u.Unread, other.Unread)
}

// SamePlace reports whether another unit stands in the same file with the same text, so
// that problems are in the same lines.
func (u *Unit) SamePlace(other *Unit) bool {
	return u.File.Path == other.File.Path && bytes.Equal(u.File.Text, other.File.Text)
}

// Compile compiles the policy by types; its Rego is compiled and run by an
// evaluator. The plan is nil when a problem is an error.
func (u *Unit) Compile(known *schema.Set, in rego.Evaluator) (*plan.Policy, []document.Problem, error) {
	if len(u.Unread) > 0 {
		return nil, u.Unread, nil
	}
	program := slices.DeleteFunc(slices.Clone(u.Modules), rego.Module.IsTest)
	compiler, err := compile.New(compile.Options{
		Schemas: known, Functions: builtins.Functions(), Queries: builtins.Queries(),
		Modules: map[string][]rego.Module{u.File.Path: program},
		Rego:    in,
		Seen:    u.Seen,
		Params:  compile.Overrides{u.Name(): u.Overrides},
	})
	if err != nil {
		return nil, nil, err
	}
	p, problems := compiler.Policy(u.Document)
	problems = u.withLines(problems)
	if p != nil {
		u.setMode(p)
		p.Origin = plan.Origin{ConfigMap: u.ConfigMap, Text: u.Digest()}
	}
	return p, problems, nil
}

// Digest names the text of the policy's file and of the Rego beside it: the
// SHA-256 of each text after its length in bytes and a colon.
func (u *Unit) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(u.File.Text), u.File.Text)
	for _, m := range u.Modules {
		if !m.IsTest() {
			fmt.Fprintf(h, "%d:%s", len(m.Text), m.Text)
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// setMode applies the mode that was asked for from outside.
func (u *Unit) setMode(p *plan.Policy) {
	if u.Mode != "" {
		p.Mode = plan.Mode(u.Mode)
	}
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
