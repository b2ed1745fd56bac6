package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// names are the names that all expressions of a policy may use. Inputs and
// variables add theirs once they are typed.
type names struct {
	env *cel.Env
	// flows are where the values of names come from, forms what the text says of their
	// keys, nodes what computes them, and slots what they stand for in an evaluation.
	flows map[string]*analyze.Flow
	forms map[string]*analyze.Form
	nodes map[string]*analyze.Node
	slots map[string]plan.Slot
	// trees are the expressions that were compiled.
	trees trees
	// lacks are the keys that expressions take from mappings without them.
	lacks []analyze.Lack
	// seen is told of each expression; it may be nil.
	seen func(n *document.Node, env *cel.Env)
	// at is where the policy is.
	at       document.Position
	problems *findings
}

// declared is a name with all that is known of it.
type declared struct {
	analyze.Ref
	of   *cel.Type
	flow *analyze.Flow
	form *analyze.Form
	node *analyze.Node
}

// given are the names that every evaluation gives, beside the primary object.
var given = []struct {
	analyze.Ref
	of   *cel.Type
	slot plan.SlotKind
}{
	{analyze.KeyName, cel.StringType, plan.KeyName},
	{analyze.KeyNamespace, cel.StringType, plan.KeyNamespace},
	{analyze.Now, cel.TimestampType, plan.Now},
	{analyze.Initial, cel.BoolType, plan.Initial},
	{analyze.Leaving, cel.BoolType, plan.Leaving},
	{analyze.Failures, cel.MapOf(cel.MapOf(cel.StringType)), plan.Failures},
}

// newNames returns the names of a policy without inputs and variables. env knows
// the params.
func newNames(env *cel.Env, params []param, primary *plan.Primary, at document.Position, problems *findings) *names {
	n := &names{
		env: env, flows: map[string]*analyze.Flow{}, forms: map[string]*analyze.Form{}, nodes: map[string]*analyze.Node{}, slots: map[string]plan.Slot{},
		trees: trees{}, at: at, problems: problems,
	}
	for _, p := range params {
		n.know(declared{Ref: p.ref(), node: p.node}, plan.Slot{Kind: plan.Param, Value: p.Value})
	}
	vars := []declared{{
		Ref: analyze.ObjectRef, of: env.TypeOf(primary.Type), flow: analyze.From(analyze.Object),
		node: analyze.New(analyze.Primary, analyze.ObjectRef.Name, at),
	}}
	n.know(vars[0], plan.Slot{Kind: plan.Object})
	for _, g := range given {
		d := declared{Ref: g.Ref, of: g.of, node: analyze.New(g.Kind, g.String(), at)}
		n.know(d, plan.Slot{Kind: g.slot})
		vars = append(vars, d)
	}
	n.know(declared{Ref: analyze.Call, node: analyze.New(analyze.Context, "call", at)}, plan.Slot{Kind: plan.CallSlot})
	n.declare(vars...)
	return n
}

// know records what a name stands for.
func (n *names) know(d declared, slot plan.Slot) {
	n.flows[d.String()], n.forms[d.String()] = d.flow, d.form
	n.nodes[d.String()], n.slots[d.String()] = d.node, slot
}

// declare lets expressions use names.
func (n *names) declare(list ...declared) {
	vars := make([]cel.Var, len(list))
	for i, d := range list {
		vars[i] = cel.Var{Name: d.String(), Type: d.of}
	}
	env, err := n.env.With(vars...)
	if err != nil {
		n.problems.Errorf(n.at, "%v", err)
		return
	}
	n.env = env
}

// mistaken lets expressions use the names of what was left out because of a mistake in it:
// the mistake was reported, and an expression that reads the name has none for that.
func (n *names) mistaken(refs ...analyze.Ref) {
	var list []declared
	for _, r := range refs {
		if _, known := n.slots[r.String()]; !known {
			d := declared{Ref: r, of: cel.DynType, node: analyze.New(r.Kind, r.Name, n.at)}
			n.know(d, plan.Slot{})
			list = append(list, d)
		}
	}
	n.declare(list...)
}

// node returns the node of a name, nil when it has none.
func (n *names) node(r analyze.Ref) *analyze.Node { return n.nodes[r.String()] }
