package policytest

import (
	"context"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/source"
)

// rego runs the tests that stand in Rego beside a policy's file, once.
func (r *runner) rego(ctx context.Context, file string) error {
	if r.modules[file] {
		return nil
	}
	r.modules[file] = true
	modules, err := source.Modules(file)
	if err != nil {
		return err
	}
	return r.regoTests(ctx, modules)
}

// regoTests runs the tests of some modules.
func (r *runner) regoTests(ctx context.Context, modules []rego.Module) error {
	results, problems := rego.RunTests(ctx, rego.Default(), modules)
	if err := document.Join(problems); err != nil {
		return err
	}
	for _, one := range results {
		if r.options.Run != nil && !r.options.Run.MatchString(one.Location.File+"/"+one.Name) {
			continue
		}
		c := Case{File: one.Location.File, Name: one.Name, Position: one.Location.String(), At: one.Location, Time: one.Duration}
		if !one.Pass {
			c.Failures = []string{one.Failure}
		}
		r.report.Cases = append(r.report.Cases, c)
	}
	return nil
}
