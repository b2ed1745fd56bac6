package mutation

import (
	"context"
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

// tested is a policy, with the files of the tests that use it.
type tested struct {
	unit    *source.Unit
	plan    *plan.Policy
	schemas *schema.Set
	files   []string
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
	units := map[document.Position]*source.Unit{}
	report, err := policytest.Run(ctx, []string{file}, policytest.Options{
		Schemas: o.Schemas,
		Edit: func(u *source.Unit) {
			if _, ok := units[u.Document.Pos]; !ok {
				units[u.Document.Pos] = u
			}
		},
		Begin: func(in simulate.Options) {
			for _, p := range in.Policies {
				s.note(file, units[p.Source], p, in.Schemas)
			}
		},
	})
	if err != nil {
		return err
	}
	if report.Failed() > 0 {
		return fails(file, report)
	}
	return nil
}

// note notes that a file of tests uses a policy.
func (s *suite) note(file string, unit *source.Unit, p *plan.Policy, schemas *schema.Set) {
	at := slices.IndexFunc(s.policies, func(t *tested) bool { return t.unit.Document.Pos == p.Source })
	if at < 0 {
		first := *unit
		at, s.policies = len(s.policies), append(s.policies, &tested{unit: &first, plan: p, schemas: schemas})
	}
	if t := s.policies[at]; !slices.Contains(t.files, file) {
		t.files = append(t.files, file)
	}
}

// mutants returns those of the policies of some names; of all when none is given.
func (s *suite) mutants(names []string) (out []trial) {
	for _, t := range s.policies {
		if len(names) > 0 && !slices.Contains(names, t.plan.Name) {
			continue
		}
		for _, m := range Of(t.unit.Document, t.plan) {
			out = append(out, trial{m, t})
		}
	}
	return out
}
