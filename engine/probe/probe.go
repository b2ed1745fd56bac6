package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// Place is where problems say that an expression given by itself is.
const Place = "expression"

// name is that of the variable that is added to a policy.
const name = "edictProbe"

// World is what a policy is evaluated on.
type World struct {
	Schemas *schema.Set
	Objects []simulate.Object
	Now     time.Time
	// Answers answers what policies ask builtins that look outside; nil answers
	// nothing of use.
	Answers expr.Answerer
}

// given is an expression that was given by itself.
func given(text string) v1alpha1.Text {
	return v1alpha1.Text{Value: text, Node: document.Verbatim(Place, text)}
}

// Probe is a policy with one variable more, in a world.
type Probe struct {
	policy *plan.Policy
	sim    *simulate.Simulation
}

// Compile compiles a policy with an expression as one variable more. The problems are why
// it does not compile; the policy is nil then.
func Compile(u *source.Unit, expression string, known *schema.Set) (*plan.Policy, []document.Problem, error) {
	return source.NewCompiler(nil, nil).Compile(context.Background(), with(u, expression), known)
}

// New puts what Compile returned into a world. The world has what this policy reads of its
// objects, which is more than the policy reads without the variable.
func New(ctx context.Context, p *plan.Policy, w World) *Probe {
	return &Probe{p, simulate.New(ctx, simulate.Options{Policies: []*plan.Policy{p}, Schemas: w.Schemas, Objects: w.Objects, Start: w.Now, Answers: w.Answers})}
}

// with returns a policy with a variable more, in force. A second variable makes of
// the first what is used as a whole, so that no field of it is left out.
func with(u *source.Unit, expression string) *source.Unit {
	v := v1alpha1.Variable{Name: given(name), Expression: given(expression)}
	v.Pos = v.Name.Pos()
	whole := v1alpha1.Variable{Name: given(name + "Whole"), Value: v1alpha1.Template{Node: document.Verbatim(Place, "${variables."+name+"}")}, Pos: v.Pos}
	doc := *u.Document
	doc.Spec.Variables = append(slices.Clone(doc.Spec.Variables), v, whole)
	out := *u
	out.Document, out.Mode = &doc, v1alpha1.ModeEnforce
	return &out
}

// Keys are those that the policy decides about.
func (p *Probe) Keys() []eval.Key { return p.sim.Controller(p.policy.ID()).Keys() }

// Value evaluates the variable for a key.
func (p *Probe) Value(ctx context.Context, key eval.Key) (value.Value, error) {
	return eval.Variable(ctx, p.sim.Controller(p.policy.ID()).Input(key, p.sim.Now()), name)
}

// Alone evaluates an expression over builtins and now, outside of any policy. The
// problems are why it does not compile.
func Alone(ctx context.Context, text string, now time.Time) (value.Value, []document.Problem, error) {
	env, err := cel.NewEnv(builtins.Functions())
	if err != nil {
		return nil, nil, err
	}
	if env, err = env.With(cel.Var{Name: "now", Type: cel.TimestampType}); err != nil {
		return nil, nil, err
	}
	var problems document.Problems
	program := env.Compile(cel.Whole(given(text)), &problems)
	if program == nil {
		return nil, problems.List(), nil
	}
	meter := expr.NewMeter(ctx)
	defer meter.Close()
	v, err := program.Eval(alone{now}, meter)
	return v, nil, err
}

// alone are the names of an expression outside of any policy.
type alone struct{ now time.Time }

// Parent implements expr.Scope.
func (a alone) Parent() expr.Scope { return nil }

// ResolveName implements expr.Scope.
func (a alone) ResolveName(name string) (any, bool) {
	switch name {
	case "now":
		return value.OfTime(a.now), true
	case cel.CallVariable:
		return cel.CallValue(&expr.Call{Now: a.now, Flip: func(time.Time) {}, Recall: func(string) value.Value { return nil }}), true
	}
	return nil, false
}

// ErrNoKey says that a policy decides about several objects or none, so that one has
// to be named.
type ErrNoKey struct {
	Kind string
	Keys []eval.Key
}

// Error implements error.
func (e ErrNoKey) Error() string {
	if len(e.Keys) == 0 {
		return "there is no " + e.Kind + " that the policy decides about"
	}
	return fmt.Sprintf("the policy decides about %d objects of the kind %s; name one, such as %s", len(e.Keys), e.Kind, e.Keys[0])
}

// OnlyKey returns the key of a policy that decides about one object. The error is
// an ErrNoKey.
func (p *Probe) OnlyKey() (eval.Key, error) {
	keys := p.Keys()
	if len(keys) != 1 {
		return eval.Key{}, ErrNoKey{Kind: p.policy.Primary.Kind, Keys: keys}
	}
	return keys[0], nil
}
