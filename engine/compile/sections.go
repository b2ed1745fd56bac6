package compile

import (
	"cmp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// sections compile the parts of one policy.
type sections struct {
	plan      *plan.Policy
	names     *names
	objects   *objects
	inputs    *inputs
	variables *variables
	rules     *rules
	// modules and selections have counted what they were called for.
	modules    *modules
	selections *selections
	kinds      *kinds
	constants  *constants
	problems   *findings
	overrides  map[string]Override
	revision   func() string
}

// sections compiles what all others need: header, params and primary object. It
// returns nil when a policy without them cannot be compiled.
func (c *Compiler) sections(doc *v1alpha1.Policy, o PolicyOptions, budget *cel.Budget, problems *findings) *sections {
	out := newPlan(doc, problems)
	if out == nil {
		return nil
	}
	s := &sections{plan: out, problems: problems, overrides: o.Params, kinds: &kinds{schemas: c.options.Schemas, problems: problems}}
	list := (&params{policy: v1alpha1.Text{Value: out.Written(), Node: doc.Metadata.Name.Node}, overrides: o.Params, problems: problems}).all(doc.Spec.Params)
	s.constants = newConstants(c.env, list, budget, doc.Pos, problems)
	s.objects = &objects{primary: primary(doc, s.constants, s.kinds, problems)}
	s.names = newNames(s.constants.env, list, &s.objects.primary, doc.Pos, problems)
	s.names.seen = o.Seen
	s.modules = newModules(cmp.Or(o.Rego, rego.Default()), o.Modules, out.Name, doc.Pos, problems)
	s.selections = &selections{queries: c.options.Queries}
	s.revision = func() string { return Revision(doc, o.Modules, o.Params) }
	s.params(list)
	s.connect()
	return s
}

// params adds the params to the plan, and all that depends on them alone.
func (s *sections) params(list []param) {
	s.plan.Params = map[string]value.Value{}
	for _, p := range list {
		s.plan.Params[p.Name] = p.Value
		s.plan.ParamInfo = append(s.plan.ParamInfo, p.ParamInfo)
		s.plan.Graph.Add(p.node)
	}
	s.plan.Graph.Add(s.objects.primary.Node, s.modules.node)
}

// connect gives the sections what they depend on.
func (s *sections) connect() {
	s.inputs = &inputs{policy: s.plan.Name, names: s.names, objects: s.objects, constants: s.constants, kinds: s.kinds, problems: s.problems}
	s.inputs.near = &near{kinds: s.kinds, problems: s.problems, primary: s.objects.kind(analyze.Object), only: s.objects.place(analyze.Object, analyze.Scope{}).Namespace}
	s.variables = &variables{modules: s.modules}
	ts := &targets{objects: s.objects, kinds: s.kinds}
	as := &actions{targets: ts, manifests: &manifests{policy: s.plan.Name, targets: ts, kinds: s.kinds}, selections: s.selections}
	s.rules = &rules{names: s.names, constants: s.constants, variables: s.variables.locals, actions: as.list, problems: s.problems}
}

// compile compiles the sections in the order in which they use each other. It
// returns nil when there is an error.
func (s *sections) compile(doc *v1alpha1.Policy) *plan.Policy {
	own, rules := doc.Spec.Variables, doc.Spec.Rules
	reservedKeys(doc.Node.Get("spec"), s.problems)
	doc = withUnions(doc, s.problems)
	doc = withHeld(withChildren(doc, s.kinds, s.problems), s.problems)
	s.rules.rates = &rates{policy: doc, names: s.names, actions: s.rules.actions, problems: s.problems, annotations: map[string]bool{}}
	spec := &doc.Spec
	declared := s.inputs.declare(spec.Inputs)
	s.names.mistaken(mistakes(spec)...)
	list, ok := policyVariables(spec.Variables, s.names, s.variables, s.problems)
	if !ok {
		return nil
	}
	s.inputs.compile(declared)
	optional(declared, &s.objects.primary, spec.For.Kind, s.kinds, s.problems)
	share(list)
	s.plan.Inputs, s.plan.Variables, s.plan.Rules = s.objects.inputs, list, s.rules.all(spec, doc.Pos)
	reservedParams(s.plan, s.problems)
	s.constants.durations(rules, own)
	s.plan.Limits = (&limits{constants: s.constants, inputs: s.plan.Inputs, problems: s.problems}).all(spec.Limits)
	s.modules.lint()
	var nodes []*analyze.Node
	s.plan.Metrics, nodes = (&metrics{names: s.names, rules: s.plan.Rules, problems: s.problems}).all(spec.Metrics)
	lackingKeys(s.names.lacks, s.problems)
	s.graph(nodes)
	unused(own, s.plan.Graph, s.names, s.problems)
	if !s.problems.HasErrors() {
		tryParams(s.plan, s.constants.certain, s.overrides, s.problems)
	}
	if s.problems.HasErrors() {
		return nil
	}
	return s.finish(doc.Node.Get("spec"))
}

// mistakes are the names of params, inputs and children, for those that were left out.
func mistakes(spec *v1alpha1.Spec) (out []analyze.Ref) {
	for _, p := range spec.Params {
		out = append(out, analyze.ParamRef(p.Key.Value))
	}
	for _, in := range spec.Inputs {
		if identifierForm.MatchString(in.Name.Value) {
			out = append(out, analyze.InputRef(in.Name.Value))
		}
	}
	for _, c := range spec.Children {
		if identifierForm.MatchString(c.Name.Value) {
			out = append(out, analyze.ChildRef(c.Name.Value))
		}
	}
	return out
}

// graph makes the nodes of inputs, variables, rules and metrics parts of the
// policy.
func (s *sections) graph(metrics []*analyze.Node) {
	g := s.plan.Graph
	for _, in := range s.plan.Inputs {
		g.Add(in.Node)
	}
	for _, v := range s.plan.Variables {
		g.Add(v.Node)
	}
	for _, r := range s.plan.Rules {
		g.Add(r.Node)
	}
	g.Add(metrics...)
}

// finish fills in what follows from all sections together.
func (s *sections) finish(spec *document.Node) *plan.Policy {
	p := s.plan
	p.Primary, p.Targets, p.Slots = s.objects.primary, s.objects.targets, plan.NewSlots(s.names.slots)
	p.HasSelections = s.selections.count > 0
	gather(p)
	p.Kinds = s.kinds.written(p.Writes)
	p.Revision = s.revision()
	seal(p, spec, s.names)
	leaving(p, s.names.node(analyze.Leaving))
	for _, in := range p.Inputs {
		if in.Index != "" {
			in.Index += "@" + p.Revision // another text may need another index
		}
	}
	return p
}
