package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/lsp/rpc"
	"github.com/edict-dev/edict/engine/probe"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// commandEvaluate evaluates the expression at a place: [{uri, position, key}].
const commandEvaluate = "edict.evaluate"

func (s *Server) execute(ctx context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		Command   string `json:"command"`
		Arguments []struct {
			URI      string   `json:"uri"`
			Position Position `json:"position"`
			Key      string   `json:"key"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, &rpc.Error{Code: rpc.InvalidParams, Message: err.Error()}
	}
	if params.Command != commandEvaluate || len(params.Arguments) != 1 {
		return nil, &rpc.Error{Code: rpc.InvalidParams, Message: "the command is " + commandEvaluate + " with {uri, position}"}
	}
	p := params.Arguments[0]
	a, err := s.analysis(p.URI)
	if err != nil {
		return nil, err
	}
	c := a.cursorAt(a.text.place(p.Position))
	if c == nil {
		return nil, errors.New("there is no expression here")
	}
	w, err := s.world(a)
	if err != nil {
		return nil, err
	}
	key := s.options.Key
	if p.Key != "" {
		key = p.Key
	}
	v, of, err := a.evaluate(ctx, w, c.text, c.node.Pos, key)
	if err != nil {
		return nil, err
	}
	return map[string]any{"expression": c.text, "key": of.String(), "value": value.Plain(v)}, nil
}

// world reads the snapshot.
func (s *Server) world(a *analysis) (probe.World, error) {
	w := probe.World{Schemas: a.bundle.Schemas, Now: s.now().UTC()}
	if s.options.Snapshot == "" {
		return w, errors.New("there is no snapshot to evaluate on: set the option snapshot to a file or folder of manifests")
	}
	var err error
	if s.options.Now != "" {
		if w.Now, err = time.Parse(time.RFC3339, s.options.Now); err != nil {
			return w, fmt.Errorf("the option now: %w", err)
		}
	}
	w.Objects, err = simulate.ReadObjects(s.options.Snapshot, simulate.AnswersIn(s.options.Snapshot))
	return w, err
}

// evaluate evaluates an expression that stands at a place of a policy: as a variable
// of the policy or, when it uses names of a rule or a collection, for each item.
func (a *analysis) evaluate(ctx context.Context, w probe.World, text string, at document.Position, key string) (value.Value, eval.Key, error) {
	u := a.unitAt(at)
	if u == nil {
		return nil, eval.Key{}, errors.New("there is no policy here")
	}
	compiled, problems, err := probe.Compile(u, probe.Expression(text), w.Schemas)
	if compiled == nil && err == nil {
		if around := enclosing(u, at); around != nil {
			around.Value = v1alpha1.Template{Node: document.Verbatim(probe.Place, "${"+text+"}")}
			if inner, _, wrong := probe.Compile(u, *around, w.Schemas); inner != nil && wrong == nil {
				compiled, problems = inner, nil
			}
		}
	}
	if err = errors.Join(err, document.Join(problems)); compiled == nil {
		return nil, eval.Key{}, err
	}
	p := probe.New(ctx, compiled, w)
	k, err := chosenKey(p, key)
	if err != nil {
		return nil, k, err
	}
	result, err := p.Value(ctx, k)
	if err != nil {
		return nil, k, err
	}
	return result.Value, k, nil
}

// chosenKey returns the key that is asked for, else the first.
func chosenKey(p *probe.Probe, key string) (eval.Key, error) {
	if key != "" {
		return eval.ParseKey(key), nil
	}
	if keys := p.Keys(); len(keys) > 0 {
		return keys[0], nil
	}
	return p.OnlyKey()
}

// enclosing returns a collection with the items and the variables of the rule, the
// children or the variable that a place is in; nil when it is in none.
func enclosing(u *source.Unit, at document.Position) (out *v1alpha1.Variable) {
	begun := func(p document.Position) bool { return compare(p, at) <= 0 }
	spec := &u.Document.Spec
	last := document.Position{}
	take := func(p document.Position, forEach, as v1alpha1.Text, variables []v1alpha1.Variable) {
		if !begun(p) || compare(p, last) < 0 {
			return
		}
		if !forEach.Set() {
			forEach = probe.Text("[0]")
		}
		variables = slices.DeleteFunc(slices.Clone(variables), func(v v1alpha1.Variable) bool { return !begun(v.Pos) })
		if n := len(variables); n > 0 && compare(variables[n-1].Name.Pos(), at) <= 0 && v1alpha1.Text.Pos(variables[n-1].Expression) == at {
			variables = variables[:n-1] // the variable itself
		}
		last, out = p, &v1alpha1.Variable{ForEach: forEach, As: as, Variables: variables, Pos: p}
	}
	for i := range spec.Variables {
		take(spec.Variables[i].Pos, spec.Variables[i].ForEach, spec.Variables[i].As, spec.Variables[i].Variables)
	}
	for i := range spec.Children {
		take(spec.Children[i].Pos, spec.Children[i].ForEach, spec.Children[i].As, spec.Children[i].Variables)
	}
	for i := range spec.Rules {
		take(spec.Rules[i].Pos, spec.Rules[i].ForEach, spec.Rules[i].As, spec.Rules[i].Variables)
	}
	return out
}

// maxHint is how many characters of a value are shown on its line.
const maxHint = 80

// inlayHints shows the values of the expressions on some lines, at their ends.
// Nothing is shown without a snapshot.
func (s *Server) inlayHints(ctx context.Context, p within) (any, error) {
	hints := []inlayHint{}
	a, err := s.analysis(p.TextDocument.URI)
	if err != nil || s.options.Snapshot == "" {
		return hints, err
	}
	w, err := s.world(a)
	if err != nil {
		return hints, err
	}
	shown := map[int]bool{}
	for _, e := range a.seen {
		line := e.node.At(len([]rune(e.node.Text))).Line - 1
		if shown[line] || line < p.Range.Start.Line || line > p.Range.End.Line || !isExpression(a.root(e.node.Pos), e.node) {
			continue
		}
		v, key, err := a.evaluate(ctx, w, e.node.Text, e.node.Pos, s.options.Key)
		if err != nil {
			continue // a finding says what is wrong; where and keyBy have no one value
		}
		shown[line] = true
		hints = append(hints, a.hint(line, v, key))
	}
	return hints, nil
}

func (a *analysis) hint(line int, v value.Value, key eval.Key) inlayHint {
	text, err := json.Marshal(value.Plain(v))
	if err != nil {
		text = []byte(err.Error())
	}
	label := []rune("= " + string(text))
	if len(label) > maxHint {
		label = append(label[:maxHint-1], '…')
	}
	end := document.Position{Line: line + 1, Column: len([]rune(a.text.line(line))) + 1}
	return inlayHint{Position: a.text.position(end), Label: string(label), Tooltip: "the value for " + key.String(), PaddingLeft: true}
}
