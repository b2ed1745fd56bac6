package compile

import (
	"regexp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Options are what a policy is compiled against.
type Options struct {
	// Schemas knows the types of the kinds.
	Schemas *schema.Set
	// Functions are the builtins.
	Functions []expr.Function
	// Queries are the builtins that a selection may call.
	Queries []expr.Query
	// Modules are the Rego modules beside policies, by the policies' files.
	Modules map[string][]rego.Module
	// Rego compiles and runs them; nil is this process.
	Rego rego.Evaluator
	// Params are values given for params.
	Params Overrides
}

// Compiler compiles policies. It is safe for concurrent use.
type Compiler struct {
	options Options
	env     *cel.Env
}

// New makes a compiler.
func New(options Options) (*Compiler, error) {
	if options.Rego == nil {
		options.Rego = rego.Local()
	}
	env, err := cel.NewEnv(options.Functions)
	if err != nil {
		return nil, err
	}
	return &Compiler{options: options, env: env}, nil
}

// Limits of a document.
const (
	// MaxRules is how many rules a policy may have.
	MaxRules = 200
	// MaxVariables is how many variables a policy may have, and how many a rule
	// or a collection may.
	MaxVariables = 500
	// MaxRuleBytes is how much text a rule may have.
	MaxRuleBytes = 16 << 10
)

// Policy compiles one policy. The plan is nil if any problem is an error.
func (c *Compiler) Policy(p *v1alpha1.Policy) (*plan.Policy, []document.Problem) {
	b := &builder{
		Compiler: c, budget: cel.NewBudget(), doc: p, problems: &document.Problems{},
		plan:  &plan.Policy{Name: p.Metadata.Name.Value, Source: p.Pos, Slots: map[string]plan.Slot{}, Params: map[string]value.Value{}},
		flows: map[string]*analyze.Flow{}, nodes: map[string]*analyze.Node{}, kinds: map[analyze.Root]schema.GVK{}, trees: trees{},
	}
	b.plan.Graph = analyze.New(analyze.Policy, b.plan.Name, p.Pos)
	defer b.budget.Close()
	b.surviving(b.build)
	if b.problems.HasErrors() {
		return nil, b.problems.List()
	}
	return b.plan, b.problems.List()
}

// surviving makes a panic an error of the policy that is compiled: one text must
// not end a process that has others. The last place that was looked at is named.
func (b *builder) surviving(build func()) {
	defer func() {
		if fault := recover(); fault != nil {
			b.problems.Hintf(b.at(), "this is a bug of edict; please report it with the policy", "internal error (panic): %v", fault)
		}
	}()
	build()
}

// at is the place of the part that is being compiled.
func (b *builder) at() document.Position {
	if b.compiling != (document.Position{}) {
		return b.compiling
	}
	return b.doc.Pos
}

// builder holds one policy while it is compiled.
type builder struct {
	*Compiler
	doc      *v1alpha1.Policy
	problems *document.Problems
	plan     *plan.Policy
	// env knows the policy's names that are typed so far.
	env *cel.Env
	// flows are where the values of the policy's names come from, nodes the parts
	// of the policy by name.
	flows map[string]*analyze.Flow
	nodes map[string]*analyze.Node
	// kinds are the kinds of the objects of roots.
	kinds map[analyze.Root]schema.GVK
	// trees are the expressions by where they are written.
	trees trees
	// modulesNode is the part of the Rego modules beside the policy.
	modulesNode *analyze.Node
	// library are the Rego modules beside the policy, queries what it asks them.
	library         *rego.Library
	compiledModules bool
	queries         []*rego.Query
	// compiling is the place of the rule, variable or input under way.
	compiling document.Position
	// budget counts what is computed of constants.
	budget *cel.Budget
	// selects counts the selections.
	selects int
}

// graph is the node of the whole policy.
func (b *builder) graph() *analyze.Node { return b.plan.Graph }

const objectName = "object"

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func (b *builder) build() {
	if !b.header() {
		return
	}
	b.params()
	b.primary()
	b.names()
	b.declareInputs()
	if !b.variables() {
		return
	}
	b.compileInputs()
	b.rules()
	b.limits()
	b.lintModules()
	b.metrics()
	b.unused()
	if b.problems.HasErrors() {
		return
	}
	b.finish()
}

func (b *builder) header() bool {
	name := b.doc.Metadata.Name
	switch {
	case !name.Set():
		b.problems.Errorf(b.doc.Pos, "metadata.name is missing")
		return false
	case !nameForm.MatchString(name.Value):
		b.problems.Hintf(name.Pos(), "lower-case letters, digits and dashes, at most 63", "%q cannot be the name of a policy", name.Value)
	}
	switch mode := b.doc.Spec.Mode; mode.Value {
	case "":
		b.plan.Mode = plan.Enforce
	case v1alpha1.ModeEnforce, v1alpha1.ModeShadow, v1alpha1.ModeDisabled:
		b.plan.Mode = plan.Mode(mode.Value)
	default:
		b.problems.Hintf(mode.Pos(), "Enforce, Shadow or Disabled", "unknown mode %q", mode.Value)
	}
	if !b.doc.Spec.For.Kind.Set() || !b.doc.Spec.For.APIVersion.Set() {
		b.problems.Hintf(b.doc.Pos, "spec.for: {apiVersion: ..., kind: ...} says which objects the policy decides about", "spec.for is missing")
		return false
	}
	return true
}

// primary compiles spec.for.
func (b *builder) primary() {
	f := b.doc.Spec.For
	gvk := schema.GVK{APIVersion: f.APIVersion.Value, Kind: f.Kind.Value}
	p := plan.Primary{GVK: gvk, Type: b.options.Schemas.Of(gvk), Optional: f.Optional, Selector: selector.Everything}
	if f.Selector.Set() {
		p.Selector = b.selector(f.Selector)
		// Of a narrowed watch, what leaves the selector looks as if it were gone.
		if p.Follows = follows(b.doc.Node.Get("spec")); !p.Follows {
			p.Source.Selector = p.Selector.String()
		}
	}
	if namespaces := b.constantTemplate(f.Namespaces); namespaces != nil {
		p.Namespaces = b.namespaces(namespaces)
		p.Within = within(namespaces, p.Namespaces)
	}
	p.Source.GVK, p.Node = gvk, b.graph().Part(analyze.Primaries, gvk.Kind, b.doc.Pos)
	b.inNamespace(gvk, f.Namespaces.Node)
	if len(p.Namespaces) == 1 {
		p.Source.Namespace = p.Namespaces[0]
	}
	b.plan.Primary = p
	b.kinds[analyze.Object] = gvk
	if _, known := b.options.Schemas.Kind(gvk); !known {
		b.untypedKind(gvk, f.APIVersion, f.Kind)
	}
}

// selector evaluates a selector over params.
func (b *builder) selector(t v1alpha1.Template) *selector.Selector {
	v := b.constant(t)
	if v == nil {
		return selector.Everything
	}
	s, err := selector.Parse(v)
	if err != nil {
		b.problems.Errorf(t.Pos(), "the selector is malformed: %v", err)
		return selector.Everything
	}
	return s
}

func (b *builder) namespaces(t *cel.Template) []string {
	list, ok := t.Constant().(*value.List)
	if !ok {
		b.problems.Errorf(t.Pos(), "namespaces must be a list")
		return nil
	}
	out := value.Strings(list)
	for _, ns := range out {
		if ns == "" {
			b.problems.Errorf(t.Pos(), "a namespace is empty")
		}
	}
	return out
}

// constant evaluates a template that may use params only.
func (b *builder) constant(t v1alpha1.Template) value.Value {
	if compiled := b.constantTemplate(t); compiled != nil {
		return compiled.Constant()
	}
	return nil
}

// constantTemplate compiles a template that may use params only; nil when it is
// absent or wrong.
func (b *builder) constantTemplate(t v1alpha1.Template) *cel.Template {
	compiled := b.paramEnv().Template(t.Node, b.problems)
	switch {
	case compiled == nil || compiled.Constant() != nil:
		return compiled
	case expr.TooCostly(compiled.Unsettled()):
		b.problems.Errorf(t.Pos(), "this is computed when the policy is compiled: %s", expr.Message(compiled.Unsettled()))
	case !b.problems.HasErrors():
		b.problems.Errorf(t.Pos(), "only params may be used here")
	}
	return nil
}

// paramScope is the scope of expressions over params, which are computed when the
// policy is compiled: nothing depends on them but their values.
func (b *builder) paramScope() *scope { return &scope{env: b.paramEnv()} }

func (b *builder) paramEnv() *cel.Env {
	env, err := b.Compiler.env.With(b.paramVars()...)
	if err != nil {
		b.problems.Errorf(b.doc.Pos, "%v", err)
		return b.Compiler.env
	}
	return env.WithConstants(b.constants()).WithBudget(b.budget)
}

// constants are the params by the names that expressions use.
func (b *builder) constants() map[string]value.Value {
	out := make(map[string]value.Value, len(b.plan.Params))
	for name, v := range b.plan.Params {
		out["params."+name] = v
	}
	return out
}

// contexts are the names that every evaluation gives, beside the primary object.
var contexts = []struct {
	name string
	of   *cel.Type
	slot plan.SlotKind
	kind analyze.Kind
}{
	{"key.name", cel.StringType, plan.KeyName, analyze.Key},
	{"key.namespace", cel.StringType, plan.KeyNamespace, analyze.Key},
	{"now", cel.TimestampType, plan.Now, analyze.Context},
	{"initial", cel.BoolType, plan.Initial, analyze.Context},
	{leavingName, cel.BoolType, plan.Leaving, analyze.Context},
}

// names declares the names that every expression of the policy may use.
func (b *builder) names() {
	vars := []cel.Var{{Name: objectName, Type: b.Compiler.env.TypeOf(b.plan.Primary.Type)}}
	for _, c := range contexts {
		vars = append(vars, cel.Var{Name: c.name, Type: c.of})
		b.plan.Slots[c.name] = plan.Slot{Kind: c.slot}
		b.nodes[c.name] = analyze.New(c.kind, c.name, b.doc.Pos)
	}
	b.plan.Slots[objectName] = plan.Slot{Kind: plan.Object}
	b.nodes[objectName] = analyze.New(analyze.Primary, objectName, b.doc.Pos)
	b.modulesNode = b.graph().Part(analyze.Modules, b.plan.Name, b.doc.Pos)
	b.plan.Slots[cel.CallVariable] = plan.Slot{Kind: plan.CallSlot}
	b.nodes[cel.CallVariable] = analyze.New(analyze.Context, "call", b.doc.Pos)
	for name, v := range b.constants() {
		b.plan.Slots[name] = plan.Slot{Kind: plan.Param, Value: v}
	}
	b.flows[objectName] = analyze.From(analyze.Object)
	env, err := b.paramEnv().With(vars...)
	if err != nil {
		b.problems.Errorf(b.doc.Pos, "%v", err)
		env = b.Compiler.env
	}
	b.env = env
}

// finish fills in what follows from all expressions together.
func (b *builder) finish() {
	b.masks()
	b.plan.Revision = Revision(b.doc, b.options.Modules[b.doc.Pos.File], b.options.Params[b.plan.Name])
	b.seal()
	b.leaving()
	for _, in := range b.plan.Inputs {
		if in.Index != "" {
			in.Index += "@" + b.plan.Revision // another text may need another index
		}
	}
}

// baseMask is kept of every object: its deletion is part of every decision.
var baseMask = &value.Mask{Fields: map[string]*value.Mask{"metadata": {Fields: map[string]*value.Mask{"deletionTimestamp": {}}}}}

func targetRoot(i int) analyze.Root { return analyze.Root{Kind: analyze.Target, Index: i} }

// source returns the source of all objects of a kind.
func source(gvk schema.GVK) world.Source { return world.Source{GVK: gvk} }

// narrowed returns the source of the objects of a kind at a place. What the
// policy watches anyhow is not watched twice.
func (b *builder) narrowed(gvk schema.GVK, at analyze.Scope) (world.Source, analyze.Scope) {
	all := source(gvk)
	for _, in := range b.plan.Inputs {
		if in.Source == all && !in.Off && in.Named == (analyze.Scope{}) {
			return all, analyze.Scope{}
		}
	}
	if b.plan.Primary.Source == all {
		return all, analyze.Scope{}
	}
	return world.Source{GVK: gvk, Namespace: at.Namespace.Value, Name: at.Name.Value}, at
}
