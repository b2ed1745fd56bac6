package policytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
)

// step makes one thing happen and lets the world settle.
func (c *caseRun) step(ctx context.Context, s *v1alpha1.TestStep) error {
	c.own = s.Apply != nil || s.Patch != nil || s.Delete != nil
	err := c.happen(ctx, s)
	if c.own = false; err != nil {
		return err
	}
	c.sim.Settle(ctx)
	if s.Expect != nil {
		c.expect(s.Expect)
	} else {
		c.quiet = append(c.quiet, quiet{s.Pos, len(c.sim.Effects())})
	}
	return nil
}

// alike names an object that differs from a missing one in its apiVersion or namespace.
func (c *caseRun) alike(id simulate.Identity) string {
	for _, o := range c.sim.Objects() {
		if other := simulate.ID(o); other.Kind() == id.Kind() && other.Name() == id.Name() {
			return fmt.Sprintf("; there is one with apiVersion: %s, namespace: %q", other.APIVersion(), other.Namespace())
		}
	}
	return ""
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
			return fmt.Errorf("%s: the world has no %s %s to delete%s", s.Pos, id.Kind(), id.Name(), c.alike(id))
		}
		c.sim.Delete(id)
	case s.Advance.Set():
		d, err := time.ParseDuration(s.Advance.Value)
		if err != nil {
			return fmt.Errorf("%s: advance must be a duration: %q", s.Advance.Pos(), s.Advance.Value)
		}
		if d < 0 {
			return fmt.Errorf("%s: the clock does not go back: %q", s.Advance.Pos(), s.Advance.Value)
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
	next, err := apiserver.Merged(old, patch)
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
