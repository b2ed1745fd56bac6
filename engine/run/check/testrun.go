package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// TestRunner runs the tests beside policies, one ConfigMap after the other and in the
// background: slow tests delay only the policies that they test.
type TestRunner struct {
	checker *Checker
	// current is the run under way, nil if there is none.
	current *TestRun
	ended   chan *TestRun
}

// TestRun is a run of the tests of the policies of one ConfigMap.
type TestRun struct {
	origin   *source.Contents
	subjects []*subject
	cancel   context.CancelFunc
	// types are those of all that the policies read, refused the policies that met a limit.
	types   *schema.Set
	refused []string
}

// subject is a policy under test, and its failures.
type subject struct {
	result *lifecycle.CheckResult
	id     string
	unit   *source.Unit
	failed []document.Problem
	// again reports that the tests could not be run, which is no fault of the text.
	again bool
}

// NewTestRunner returns a TestRunner without a run.
func NewTestRunner(c *Checker) *TestRunner {
	return &TestRunner{checker: c, ended: make(chan *TestRun, 1)}
}

// Ended returns the channel of the run that has ended, which is for Complete.
func (t *TestRunner) Ended() <-chan *TestRun { return t.ended }

const (
	// testTime is how much processor time the tests beside one policy may take between two
	// turns of others, and testTimeout how long those of one ConfigMap may take by the clock.
	testTime    = 20 * time.Second
	testTimeout = 20 * time.Second
)

// Next starts the next run, unless one is under way that still matters. Start runs a
// function in the background.
func (t *TestRunner) Next(ctx context.Context, c *source.Catalog, policies *lifecycle.Registry, start func(func())) {
	if t.current != nil {
		if !slices.ContainsFunc(t.current.subjects, func(s *subject) bool { return policies.Get(s.id).Newest == s.result }) {
			t.current.cancel() // the next begins when it has ended
		}
		return
	}
	next := pick(c, policies)
	if next == nil {
		return
	}
	ctx, next.cancel = context.WithCancel(ctx)
	t.current = next
	start(func() {
		t.checker.run(ctx, next)
		t.ended <- next
	})
}

// Complete stores the results of a run that has ended.
func (t *TestRunner) Complete(done *TestRun, policies *lifecycle.Registry) {
	done.cancel()
	t.current = nil
	t.checker.complete(done, policies)
}

// pick returns the run that has been pending for longest; nil if there is none.
func pick(c *source.Catalog, policies *lifecycle.Registry) *TestRun {
	var first *lifecycle.CheckResult
	var origin *source.Contents
	for _, id := range policies.Checked() {
		if v := policies.Get(id).Newest; v.TestsPending && (first == nil || v.Checked.Before(first.Checked)) {
			first, origin = v, c.Origins[id]
		}
	}
	if first == nil {
		return nil
	}
	out := &TestRun{origin: origin}
	for _, id := range policies.Checked() {
		if v := policies.Get(id).Newest; v.TestsPending && c.Origins[id] == origin {
			out.subjects = append(out.subjects, &subject{result: v, id: id, unit: v.Unit})
		}
	}
	return out
}

// run runs the tests of a TestRun.
func (c *Checker) run(ctx context.Context, t *TestRun) {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	for _, s := range t.subjects {
		c.recovering(s.unit, &s.failed, func() { s.failed = c.tests(ctx, s, t) })
	}
}

// complete stores the results of a TestRun.
func (c *Checker) complete(t *TestRun, policies *lifecycle.Registry) {
	for _, s := range t.subjects {
		now := *s.result
		now.TestsPending = false
		if len(s.failed) > 0 {
			now.TestsFailed, now.Compiled = true, !s.again
			now.Plan, now.Problems = nil, slices.Concat(now.Problems, s.failed)
		}
		c.count(s.id, &now)
		if policies.Get(s.id).Newest == s.result {
			policies.Check(s.id, &now)
		}
	}
}

// tests runs the tests beside a policy that concern it. Policies that met a limit are not
// compiled.
func (c *Checker) tests(ctx context.Context, s *subject, t *TestRun) (failed []document.Problem) {
	if t.types == nil {
		t.types, t.refused = c.typesOf(ctx, t.origin.Units)
	}
	failed, err := c.judge.test(ctx, t.types, testRequest{Set: t.origin.Set, Text: t.origin.ConfigMap, Subject: s.unit.ID(), Without: t.refused})
	if s.again = err != nil && !errors.Is(err, errTests); err != nil {
		failed = []document.Problem{{Position: document.Position{File: t.origin.Path()}, Severity: document.Error, Message: err.Error()}}
	}
	return failed
}
