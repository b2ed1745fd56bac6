package policytest

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// remembered reads what keys remember at the start; nil when it is not there.
func remembered(n *document.Node) (simulate.Memory, error) {
	return given(n, simulate.ParseMemory, "remembered must be {policy: {key: {name: value}}}")
}

// scripted reads answers of builtins; nil when there are none.
func scripted(n *document.Node) (expr.Answerer, error) {
	parse := func(m map[string]any) (expr.Answerer, error) { return builtins.Scripted(m) }
	return given(n, parse, "answers are an object with one entry per builtin")
}

// given reads a mapping; form says what it has to be.
func given[T any](n *document.Node, parse func(map[string]any) (T, error), form string) (out T, err error) {
	if n == nil {
		return out, nil
	}
	mapping, ok := n.Plain().(map[string]any)
	if !ok {
		return out, fmt.Errorf("%s: %s", n.Pos, form)
	}
	if out, err = parse(mapping); err != nil {
		err = fmt.Errorf("%s: %w", n.Pos, err)
	}
	return out, err
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
	id, _ := world.Identify(schema.GVK{APIVersion: r.APIVersion.Value, Kind: r.Kind.Value}, r.Namespace.Value, r.Name.Value)
	return id
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
