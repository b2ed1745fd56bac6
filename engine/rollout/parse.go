package rollout

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

const (
	// maxSteps is how many steps a rollout may have.
	maxSteps = 20
	// minInterval and maxInterval bound the time from one step to the next.
	minInterval = time.Second
	maxInterval = 30 * 24 * time.Hour
	// defaultErrors is for how many keys the new revision may fail if the annotation
	// does not say.
	defaultErrors = 0
)

// example is what a hint shows.
const example = `{steps: [{percent: 5}, {percent: 25}], interval: 10m, stop: {errors: 0, disagreements: 20}}`

// Parse reads the text of an annotation, which file names in problems. The spec is nil
// if there is one.
func Parse(file, text string) (*Spec, []document.Problem) {
	p := parser{}
	out := &Spec{Stop: Stop{Errors: defaultErrors, Disagreements: NoLimit}, Digest: digest(text)}
	nodes := document.Parse(file, []byte(text), &p.problems)
	switch {
	case p.problems.HasErrors():
	case len(nodes) != 1:
		p.problems.Hintf(document.Position{File: file, Line: 1, Column: 1}, example, "a rollout is one mapping, and here are %d", len(nodes))
	default:
		p.fields(nodes[0], "the rollout", map[string]func(*document.Node){
			"steps":    func(n *document.Node) { out.Steps = p.steps(n) },
			"interval": func(n *document.Node) { out.Interval = p.interval(n) },
			"stop":     func(n *document.Node) { p.stop(n, &out.Stop) },
		}, "steps", "interval")
	}
	if p.problems.HasErrors() {
		return nil, withLines(file, text, p.problems.List())
	}
	return out, nil
}

// withLines adds the source lines to problems.
func withLines(file, text string, list []document.Problem) []document.Problem {
	source := document.NewSource(file, []byte(text))
	for i := range list {
		if list[i].Source == "" && list[i].Line > 0 {
			list[i].Source = source.Line(list[i].Line)
		}
	}
	return list
}

type parser struct{ problems document.Problems }

// fields reads a mapping whose fields are known; some must be there.
func (p *parser) fields(n *document.Node, what string, known map[string]func(*document.Node), required ...string) {
	if n.Kind != document.Map {
		p.problems.Hintf(n.Pos, example, "%s must be a mapping, not %s", what, n.Kind)
		return
	}
	names := slices.Collect(maps.Keys(known))
	for i, key := range n.Keys {
		if read := known[key.Text]; read != nil {
			read(n.Values[i])
			continue
		}
		p.problems.Hintf(key.Pos, document.DidYouMean(key.Text, names), "%s has no field %q", what, key.Text)
	}
	for _, name := range required {
		if n.Get(name) == nil {
			p.problems.Hintf(n.Pos, example, "%s needs %s", what, name)
		}
	}
}

func (p *parser) steps(n *document.Node) (out []Step) {
	if n.Kind != document.List || len(n.Values) == 0 || len(n.Values) > maxSteps {
		p.problems.Hintf(n.Pos, example, "steps must be a list of 1 to %d steps", maxSteps)
		return nil
	}
	percent := 0
	for _, item := range n.Values {
		step := p.step(item)
		if step.Percent != 0 && step.Percent <= percent {
			p.problems.Hintf(item.Pos, "each step adds objects to those before", "%d%% is not more than the %d%% of an earlier step", step.Percent, percent)
		}
		if percent == places {
			p.problems.Hintf(item.Pos, "remove it", "a step follows the one with all objects")
		}
		percent = max(percent, step.Percent)
		out = append(out, step)
	}
	return out
}

func (p *parser) step(n *document.Node) (out Step) {
	p.fields(n, "a step", map[string]func(*document.Node){
		"percent":  func(n *document.Node) { out.Percent = p.number(n, "percent", 1, places) },
		"selector": func(n *document.Node) { out.Selector = p.selector(n) },
	})
	known := len(n.Keys) == 0 || n.Get("percent") != nil || n.Get("selector") != nil // or else it is told already
	if n.Kind == document.Map && known && len(n.Keys) != 1 {
		p.problems.Hintf(n.Pos, `{percent: 5} or {selector: "key=value"}`, "a step has either percent or selector")
	}
	return out
}

// selector reads a label selector as kubectl does. One that matches everything is most
// likely meant otherwise.
func (p *parser) selector(n *document.Node) *selector.Selector {
	if n.Kind != document.String {
		p.problems.Hintf(n.Pos, `selector: "key=value"`, "selector must be a text, not %s", n.Kind)
		return nil
	}
	s, err := selector.Parse(value.OfString(n.Text))
	if err != nil {
		p.problems.Errorf(n.Pos, "the selector cannot be read: %v", err)
		return nil
	}
	if s.String() == "" {
		p.problems.Hintf(n.Pos, "{percent: 100}", "the selector is empty, and matches all objects")
	}
	return s
}

func (p *parser) interval(n *document.Node) time.Duration {
	d, err := time.ParseDuration(n.Text)
	if err != nil || d < minInterval || d > maxInterval {
		p.problems.Hintf(n.Pos, "for example 10m", "interval must be a duration from %v to %v, not %q", minInterval, maxInterval, n.Text)
	}
	return d
}

func (p *parser) stop(n *document.Node, out *Stop) {
	p.fields(n, "stop", map[string]func(*document.Node){
		"errors":        func(n *document.Node) { out.Errors = p.number(n, "errors", 0, maxLimit) },
		"disagreements": func(n *document.Node) { out.Disagreements = p.number(n, "disagreements", 0, maxLimit) },
	})
}

// maxLimit is the largest number of keys that a limit may be.
const maxLimit = 1 << 30

func (p *parser) number(n *document.Node, what string, least, most int) int {
	i, err := strconv.Atoi(n.Text)
	if err != nil || n.Kind != document.Int || i < least || i > most {
		p.problems.Errorf(n.Pos, "%s must be an integer from %d to %d, not %q", what, least, most, n.Text)
		return 0
	}
	return i
}
