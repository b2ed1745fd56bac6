package coverage

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
)

// Kind says what a point of a policy is.
type Kind string

// The kinds of points.
const (
	Rule      Kind = "rule"
	Row       Kind = "row"
	Condition Kind = "condition"
	Step      Kind = "step"
	// Line is a line of a Rego module.
	Line Kind = "line"
)

// Point is a part of a policy that can come out in some ways.
type Point struct {
	Policy string `json:"policy"`
	Kind   Kind   `json:"kind"`
	// Rule is the rule that the point is part of; "" is a variable.
	Rule string `json:"rule,omitempty"`
	// Text is the name of the rule, row or step, or the text of the condition or line.
	Text string `json:"text"`
	document.Position
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is a way in which a point can come out, and how often it has.
type Outcome struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Missing returns the outcomes of a point that have not come about.
func (p *Point) Missing() (out []string) {
	for _, o := range p.Outcomes {
		if o.Count == 0 {
			out = append(out, o.Name)
		}
	}
	return out
}

// Collector counts the outcomes of the points of policies. It is safe for concurrent
// use.
type Collector struct {
	mu     sync.Mutex
	points map[id]*Point
}

// id tells points apart: a policy that is compiled again, with other params, has the
// same ones.
type id struct {
	policy, rule string
	kind         Kind
	text         string
	at           document.Position
}

// New returns a collector that knows no points yet.
func New() *Collector { return &Collector{points: map[id]*Point{}} }

// Know adds the points of a policy, so that those that never come about are known.
func (c *Collector) Know(p *plan.Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, point := range pointsOf(p) {
		key := id{point.Policy, point.Rule, point.Kind, point.Text, point.Position}
		if c.points[key] == nil {
			c.points[key] = &point
		}
	}
}

// Observe counts what a decision has used. It evaluates the decision once more.
func (c *Collector) Observe(ctx context.Context, r *record.Record) {
	p := r.Inputs.Policy
	used := &use{policy: p, count: c.count}
	ctx = rego.Traced(ctx, used.line)
	details := r.Observe(ctx, func(part *cel.Program, holds bool) { used.condition(part, holds) })
	for i := range details.Rules {
		used.rule(&details.Rules[i])
	}
}

func (c *Collector) count(key id, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	point := c.points[key]
	if point == nil {
		return
	}
	for i := range point.Outcomes {
		if point.Outcomes[i].Name == outcome {
			point.Outcomes[i].Count++
		}
	}
}

// Points returns the points in the order of policies and of their texts.
func (c *Collector) Points() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Point, 0, len(c.points))
	for _, p := range c.points {
		one := *p
		one.Outcomes = slices.Clone(p.Outcomes)
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return out
}
