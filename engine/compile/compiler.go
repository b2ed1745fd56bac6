package compile

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/schema"
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
	// Seen, if set, is told of each expression and template before it is compiled,
	// with the names that it may use: for editors.
	Seen func(n *document.Node, env *cel.Env)
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
		options.Rego = rego.Default()
	}
	env, err := cel.NewEnv(options.Functions)
	if err != nil {
		return nil, err
	}
	return &Compiler{options: options, env: env}, nil
}
