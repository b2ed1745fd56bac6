package policytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
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
	// outcomes are what the expectations should be to hold.
	outcomes []outcome
	// documents are the names that the policies have in their documents.
	documents map[string]string
	// effects, errors and calls were looked at by earlier expectations.
	effects, errors, calls int
	faults                 []injected
}

// run returns what is wrong, in words.
func (c *caseRun) run(ctx context.Context) []string {
	if err := c.start(ctx); err != nil {
		return []string{err.Error()}
	}
	c.sim.Settle(ctx)
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
	params, err := parameters(c.test.Spec.Params, c.doc.Params)
	if err != nil {
		return err
	}
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
	objects, err := c.objects()
	if err != nil {
		return err
	}
	c.spelling = speller{bundle.Schemas}
	if err := c.spelling.world(objects); err != nil {
		return err
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	script := c.doc.Answers
	if script == nil {
		script = c.test.Spec.Answers
	}
	answers, err := scripted(script)
	if err != nil {
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
		Remembered: memory, Policies: policies, Schemas: bundle.Schemas, Objects: objects, Guard: guard.New(bundle.Allowances).Assuming(), Start: now, Answers: answers, Records: c.records(ctx),
	}
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

// remembered reads what keys remember at the start; nil when it is not there.
func remembered(n *document.Node) (simulate.Memory, error) {
	if n == nil {
		return nil, nil
	}
	kept, ok := n.Plain().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: remembered must be {policy: {key: {name: value}}}", n.Pos)
	}
	memory, err := simulate.ParseMemory(kept)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Pos, err)
	}
	return memory, nil
}

// scripted reads answers of builtins; nil when there are none.
func scripted(n *document.Node) (expr.Answerer, error) {
	if n == nil {
		return nil, nil
	}
	script, ok := n.Plain().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: answers are an object with one entry per builtin", n.Pos)
	}
	answers, err := builtins.Scripted(script)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Pos, err)
	}
	return answers, nil
}

func (c *caseRun) objects() ([]simulate.Object, error) {
	world, err := add(c.world, c.doc.Objects)
	if err != nil {
		return nil, err
	}
	if world, err = merge(world, c.doc.Patch); err != nil {
		return nil, err
	}
	for _, r := range c.doc.Without {
		at := index(world, identity(r))
		if at < 0 {
			return nil, fmt.Errorf("%s: the world has no %s %s to leave out", r.Name.Pos(), r.Kind.Value, r.Name.Value)
		}
		world = append(world[:at:at], world[at+1:]...)
	}
	return world, nil
}

func identity(r v1alpha1.TestReference) simulate.Identity {
	return simulate.Identity{GVK: schema.GVK{APIVersion: r.APIVersion.Value, Kind: r.Kind.Value}, Namespace: r.Namespace.Value, Name: r.Name.Value}
}

func (c *caseRun) now() (time.Time, error) {
	text := c.doc.Now
	if !text.Set() {
		text = c.test.Spec.Now
	}
	if !text.Set() {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil
	}
	now, err := time.Parse(time.RFC3339, text.Value)
	if err != nil {
		return now, fmt.Errorf("%s: now must be RFC 3339: %q", text.Pos(), text.Value)
	}
	return now, nil
}

// parameters reads {policy: {name: value}}; those of the case win.
func parameters(nodes ...*document.Node) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		for i, policy := range n.Keys {
			if n.Values[i].Kind != document.Map {
				return nil, fmt.Errorf("%s: params are {policy: {name: value}}", n.Values[i].Pos)
			}
			merged := maps.Clone(out[policy.Text])
			if merged == nil {
				merged = map[string]string{}
			}
			for j, name := range n.Values[i].Keys {
				text, err := paramText(n.Values[i].Values[j])
				if err != nil {
					return nil, err
				}
				merged[name.Text] = text
			}
			out[policy.Text] = merged
		}
	}
	return out, nil
}

func paramText(n *document.Node) (string, error) {
	if n.Kind != document.Map && n.Kind != document.List {
		return n.Text, nil
	}
	text, err := json.Marshal(n.Plain())
	return string(text), err
}

// step makes one thing happen and lets the world settle.
func (c *caseRun) step(ctx context.Context, s *v1alpha1.TestStep) error {
	if err := c.happen(ctx, s); err != nil {
		return err
	}
	c.sim.Settle(ctx)
	if s.Expect != nil {
		c.expect(s.Expect)
	}
	return nil
}

func (c *caseRun) happen(ctx context.Context, s *v1alpha1.TestStep) error {
	switch {
	case s.Apply != nil:
		o, err := object(s.Apply)
		if err == nil {
			err = c.spelling.written(s.Apply, o)
		}
		if err != nil {
			return err
		}
		c.sim.Apply(o)
	case s.Patch != nil:
		return c.patch(s)
	case s.Delete != nil:
		id := identity(*s.Delete)
		if c.sim.Get(id) == nil {
			return fmt.Errorf("%s: the world has no %s %s to delete", s.Pos, id.Kind, id.Name)
		}
		c.sim.Delete(id)
	case s.Advance.Set():
		d, err := time.ParseDuration(s.Advance.Value)
		if err != nil {
			return fmt.Errorf("%s: advance must be a duration: %q", s.Advance.Pos(), s.Advance.Value)
		}
		c.sim.Advance(ctx, c.sim.Now().Add(d))
	case s.Answers != nil:
		answers, err := scripted(s.Answers)
		if err != nil {
			return err
		}
		c.sim.SetAnswers(answers)
	case s.Fail != nil:
		return c.fail(s)
	case s.Restart, s.Start:
		c.sim.Restart(ctx)
	case s.Stop:
		c.sim.Stop(ctx)
	}
	return nil
}

func (c *caseRun) patch(s *v1alpha1.TestStep) error {
	patch, err := object(s.Patch)
	if err != nil {
		return err
	}
	if err := c.spelling.written(s.Patch, patch); err != nil {
		return err
	}
	old := c.sim.Get(simulate.ID(patch))
	if old == nil {
		return fmt.Errorf("%s: %s", s.Pos, missing(simulate.ID(patch), c.sim.Objects()))
	}
	next, err := simulate.Merged(old, patch)
	if err != nil {
		return err
	}
	c.sim.Apply(next)
	return nil
}

func (c *caseRun) fail(s *v1alpha1.TestStep) error {
	text, err := json.Marshal(s.Fail.Plain())
	if err != nil {
		return err
	}
	f := simulate.Fault{Times: 1}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("%s: %w", s.Fail.Pos, err)
	}
	if err := f.Check(); err != nil {
		return fmt.Errorf("%s: %w", s.Fail.Pos, err)
	}
	c.faults = append(c.faults, injected{s.Fail.Pos, c.sim.Fail(f)})
	return nil
}

// injected is a fault of a step.
type injected struct {
	at    document.Position
	fault *simulate.Fault
}

// needless reports the faults that no write has met: what they were to show was not shown.
func (c *caseRun) needless() {
	for _, f := range c.faults {
		if f.fault != nil && !f.fault.Happened() {
			c.failf(f.at, "nothing has failed because of this: no write was like it")
		}
	}
}
