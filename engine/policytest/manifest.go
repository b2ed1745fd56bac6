package policytest

import (
	"bytes"
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/source"
)

// manifest runs the tests in the ConfigMaps of a file as the controller does: each beside
// its policies, with the default params. It reports whether the file has any.
func (r *runner) manifest(ctx context.Context, f load.Source) (done bool, err error) {
	if !bytes.Contains(f.Text, []byte("ConfigMap")) {
		return false, nil
	}
	b, err := source.Load([]string{f.Path}, source.Options{Schemas: r.options.Schemas})
	if err != nil || len(b.Contents) == 0 {
		return false, err
	}
	for _, contents := range b.Contents {
		if err := r.configMap(ctx, b, contents); err != nil {
			return true, err
		}
	}
	return true, r.tests(ctx, f.Path, b.Tests)
}

func (r *runner) configMap(ctx context.Context, b *source.Bundle, c *source.Contents) error {
	for _, f := range c.Tests {
		if err := document.Join(slices.DeleteFunc(slices.Clone(c.Problems), func(p document.Problem) bool { return p.File != f.Path })); err != nil {
			return err
		}
	}
	r.embedded = &Embedded{Tests: c.Tests, Units: c.Units, Schemas: b.Schemas, Allowances: c.Allowances(b.Allowances)}
	defer func() { r.embedded = nil }()
	return r.embeddedTests(ctx)
}

// modulesOf runs the tests in Rego beside some policies, those of a file once.
func (r *runner) modulesOf(ctx context.Context, units []*source.Unit) error {
	for _, u := range units {
		if r.modules[u.File.Path] {
			continue
		}
		r.modules[u.File.Path] = true
		if err := r.regoTests(ctx, u.Modules); err != nil {
			return err
		}
	}
	return nil
}
