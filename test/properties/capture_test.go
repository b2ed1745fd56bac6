package properties

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
)

// TestCapturedDecisions: the decisions of the policy tests are captured as tests
// of their own, which pass by themselves. A test cannot make a run again that was
// debounced when its reason was gone; that is said, and is not much.
func TestCapturedDecisions(t *testing.T) {
	t.Parallel()
	c := newCaptures(t)
	every, n := budget.Of(20, 5), 0
	log := &record.Log{Seen: func(r *record.Record) {
		if n++; n%every == 0 {
			c.one(r)
		}
	}}
	tests := []string{filepath.Join("..", "..", "policy-tests")}
	if !budget.Long() {
		tests = []string{filepath.Join(tests[0], "secret-restart"), filepath.Join(tests[0], "storage-pool-eligibility")}
	}
	if _, err := policytest.Run(t.Context(), tests, policytest.Options{Records: log}); err != nil {
		t.Fatal(err)
	}
	report, err := policytest.Run(t.Context(), []string{c.folder}, policytest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range report.Cases {
		if len(one.Failures) > 0 {
			t.Errorf("%s: %s", one.Name, one.Failures[0])
		}
	}
	t.Logf("%d captured, %d not, %d run as tests", c.captured, c.failed, len(report.Cases))
	if c.captured < 10*c.failed || len(report.Cases) < c.captured/4 {
		t.Errorf("%d decisions were captured and %d were not, and only %d were run", c.captured, c.failed, len(report.Cases))
	}
}

type captures struct {
	t                *testing.T
	bundle           *source.Bundle
	folder           string
	captured, failed int
	// files are the policies, relative to the folder of the tests, by revision.
	files map[string]string
}

func newCaptures(t *testing.T) *captures {
	t.Helper()
	b, err := source.Load([]string{filepath.Join("..", "..", "policies"), filepath.Join("..", "..", "policy-tests")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &captures{t: t, bundle: b, folder: t.TempDir(), files: map[string]string{}}
	for _, p := range b.Policies {
		path, err := filepath.Abs(p.Source.File)
		if err != nil {
			t.Fatal(err)
		}
		if out.files[p.Name+p.Revision], err = filepath.Rel(out.folder, path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// one captures a decision, and writes the test if its policy has the params of its
// file.
func (c *captures) one(r *record.Record) {
	c.t.Helper()
	p := r.Inputs.Policy
	file := c.files[p.Name+p.Revision]
	text, err := capture.Test(c.t.Context(), r, capture.Options{Policies: []string{file}, Schemas: c.bundle.Schemas, Guard: guard.New(c.bundle.Allowances).Assuming()})
	switch {
	case errors.Is(err, capture.ErrNotAlone):
		c.failed++
		return
	case err != nil:
		c.t.Errorf("%s %s: %v", p.ID(), r.Inputs.Key, err)
		return
	}
	if c.captured++; file == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(c.folder, fmt.Sprintf("%d.yaml", c.captured)), text, 0o600); err != nil {
		c.t.Error(err)
	}
}
