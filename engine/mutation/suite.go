package mutation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// suite are tests, with the policies that they test.
type suite struct {
	policies []*tested
}

// tested is a document, with the files of the tests that use it.
type tested struct {
	// kinds are its policies: several if it is for several kinds.
	kinds []kind
	// units are those that were read with the first of the files. The policies of a
	// document that were read together share the nodes that are changed.
	units   map[string]*source.Unit
	schemas *schema.Set
	files   []string
}

// kind is a policy that is tested.
type kind struct {
	unit *source.Unit
	plan *plan.Policy
}

// at is where the document is.
func (t *tested) at() document.Position { return t.kinds[0].unit.Document.Pos }

// kindOf returns the policy of a unit; nil when it is of another document, or not used.
func (t *tested) kindOf(u *source.Unit) *kind {
	if u.Document.Pos != t.at() {
		return nil
	}
	at := slices.IndexFunc(t.kinds, func(k kind) bool { return k.plan.Name == u.Name() })
	if at < 0 {
		return nil
	}
	return &t.kinds[at]
}

// survey runs the tests as they are, and notes which policies each file uses.
func survey(ctx context.Context, paths []string, o Options) (*suite, error) {
	s := &suite{}
	for _, path := range paths {
		files, err := load.Files(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if !strings.Contains(string(f.Text), v1alpha1.KindPolicyTest) {
				continue
			}
			if err := s.file(ctx, f.Path, o); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *suite) file(ctx context.Context, file string, o Options) error {
	units := map[string]*source.Unit{}
	report, err := policytest.Run(ctx, []string{file}, policytest.Options{
		Schemas: o.Schemas, Params: o.Params,
		Edit: func(u *source.Unit) {
			if id := idOf(u.Document.Pos, u.Name()); units[id] == nil {
				units[id] = u
			}
		},
		Begin: func(in simulate.Options) {
			for _, p := range in.Policies {
				s.note(file, units, p, in.Schemas)
			}
		},
	})
	if err != nil {
		return err
	}
	if report.Failed() > 0 {
		return fmt.Errorf("%s: %d of its cases fail without any mutation; run edict test", file, report.Failed())
	}
	return nil
}

// idOf tells the policies of a document apart.
func idOf(at document.Position, name string) string { return at.String() + " " + name }

// note notes that a file of tests uses a policy.
func (s *suite) note(file string, units map[string]*source.Unit, p *plan.Policy, schemas *schema.Set) {
	at := slices.IndexFunc(s.policies, func(t *tested) bool { return t.at() == p.Source })
	if at < 0 {
		at, s.policies = len(s.policies), append(s.policies, &tested{schemas: schemas, units: units})
	}
	t := s.policies[at]
	if !slices.ContainsFunc(t.kinds, func(k kind) bool { return k.plan.Name == p.Name }) {
		first := *t.units[idOf(p.Source, p.Name)]
		t.kinds = append(t.kinds, kind{&first, p})
	}
	if !slices.Contains(t.files, file) {
		t.files = append(t.files, file)
	}
}

// tests returns an error for a name of which no policy is tested.
func (s *suite) tests(names []string) error {
	var known []string
	for _, t := range s.policies {
		for _, k := range t.kinds {
			known = append(known, k.plan.Name, k.plan.Written())
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("no case tests a policy %q, only %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// mutants returns those of the policies of some names; of all when none is given.
func (s *suite) mutants(names []string) (out []trial) {
	for _, t := range s.policies {
		if len(names) > 0 && !slices.ContainsFunc(t.kinds, func(k kind) bool { return slices.ContainsFunc(names, k.plan.Named) }) {
			continue
		}
		for _, m := range Of(t.kinds[0].unit.Document, t.kinds[0].plan) {
			out = append(out, trial{m, t})
		}
	}
	return out
}
