package policytest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// caseRun is one case while it runs.
type caseRun struct {
	runner   *runner
	file     string
	test     *v1alpha1.PolicyTest
	doc      *v1alpha1.TestCase
	world    []simulate.Object
	sim      *simulate.Simulation
	spelling speller
	failures []string
	// wanted has the expected objects.
	wanted []simulate.Object
	// outcomes are what the expectations should be to hold.
	outcomes []outcome
	// documents are the names that the policies have in their documents.
	documents map[string]string
	// effects, errors and calls were looked at by earlier expectations.
	effects, errors, calls int
	faults                 []injected
	// counts are those of the changes that expectations ask for; own is set while a step
	// writes.
	counts map[*document.Node]*count
	own    bool
	// quiet are the steps since the last one with an expectation.
	quiet []quiet
}

// run returns what is wrong, in words, without values of Secrets.
func (c *caseRun) run(ctx context.Context) []string {
	failures := c.failed(ctx)
	if c.sim == nil || len(failures) == 0 {
		return failures
	}
	values := c.sim.Values(c.wanted...)
	for i, f := range failures {
		failures[i] = values.Text(f)
	}
	return failures
}

func (c *caseRun) failed(ctx context.Context) []string {
	if err := c.start(ctx); err != nil {
		return []string{err.Error()}
	}
	c.sim.Settle(ctx)
	c.quiet = append(c.quiet, quiet{effects: len(c.sim.Effects())})
	for i := range c.doc.Steps {
		if err := c.step(ctx, &c.doc.Steps[i]); err != nil {
			return append(c.failures, err.Error())
		}
	}
	if c.doc.Expect != nil {
		c.expect(c.doc.Expect)
	}
	c.needless()
	if why := c.sim.Ended(); why != "" && c.errors < len(c.sim.Result().Errors) {
		c.failf(c.doc.Pos, "%s", why) // also of a case that expects nothing in the end
	}
	for policy, rules := range c.sim.Fired() {
		of := c.documents[policy]
		for rule, n := range rules {
			if c.runner.report.Coverage[of] != nil {
				c.runner.report.Coverage[of][rule] += n
			}
		}
	}
	return c.failures
}

// start sets the world up.
func (c *caseRun) start(ctx context.Context) error {
	params, err := compile.ReadOverrides(source.Typed, c.test.Spec.Params, c.doc.Params)
	if err != nil {
		return err
	}
	params = c.runner.options.Params.With(params)
	bundle, err := c.runner.bundle(c.file, c.test, params)
	if err != nil {
		return err
	}
	policies, err := only(bundle.Policies, c.test.Spec.Only)
	if err != nil {
		return err
	}
	c.documents = map[string]string{}
	for _, p := range policies {
		c.documents[p.Name] = p.Written()
	}
	begin, err := c.begin()
	if err != nil {
		return err
	}
	c.spelling = speller{bundle.Schemas}
	if err := c.spelling.world(begin.Objects, c.doc.Objects, c.test.Spec.Objects); err != nil {
		return err
	}
	memory, err := remembered(c.test.Spec.Remembered)
	if err != nil {
		return err
	}
	if err := c.ofOneKind(memory); err != nil {
		return err
	}
	options := simulate.Options{
		Remembered: memory, Policies: policies, Schemas: bundle.Schemas, Objects: begin.Objects, Guard: simulate.GuardOf(bundle).Assuming(), Start: begin.Now, Answers: begin.Answers, Records: c.records(ctx),
		Limits: c.runner.options.Limits, Changed: c.count,
	}
	c.beginCounts()
	if c.runner.embedded != nil {
		options.MaxKept = MaxKept
	}
	if c.runner.options.Begin != nil {
		c.runner.options.Begin(options)
	}
	c.sim = simulate.New(ctx, options)
	return nil
}

// records takes what is decided.
func (c *caseRun) records(ctx context.Context) *record.Log {
	if c.runner.options.Coverage == nil {
		return c.runner.options.Records
	}
	return &record.Log{Seen: func(r *record.Record) {
		if c.runner.options.Records != nil {
			c.runner.options.Records.Add(r)
		}
		c.runner.options.Coverage.Observe(ctx, r)
	}}
}

// only returns the policies of some names; all when none is given.
func only(policies []*plan.Policy, names []v1alpha1.Text) (out []*plan.Policy, err error) {
	if len(names) == 0 {
		return policies, nil
	}
	for _, name := range names {
		before := len(out)
		for _, p := range policies {
			if p.Named(name.Value) {
				out = append(out, p)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s: there is no policy %q", name.Pos(), name.Value)
		}
	}
	return out, nil
}

// ofOneKind rejects what a document for several kinds remembers: a key is one of one kind.
func (c *caseRun) ofOneKind(memory simulate.Memory) error {
	for name := range memory {
		var kinds []string
		for policy, of := range c.documents {
			if of == name && policy != name {
				kinds = append(kinds, policy)
			}
		}
		if len(kinds) > 0 {
			slices.Sort(kinds)
			return fmt.Errorf("%s: %s is a policy for each of several kinds: name one of %s", c.test.Spec.Remembered.Pos, name, strings.Join(kinds, ", "))
		}
	}
	return nil
}
