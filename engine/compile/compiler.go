package compile

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/schema"
)

// Options have the types and builtins that policies may use.
type Options struct {
	// Schemas knows the types of the kinds.
	Schemas *schema.Set
	// Functions are the builtins.
	Functions []expr.Function
	// Queries are the builtins that a selection may call.
	Queries []expr.Query
}

// PolicyOptions add to the document of a policy.
type PolicyOptions struct {
	// Modules are the Rego modules of the policy.
	Modules []rego.Module
	// Rego compiles and runs them; nil is this process.
	Rego rego.Evaluator
	// Params are values given for params.
	Params map[string]Override
	// Seen, if set, is called with each expression and template before it is compiled,
	// and with the names that it may use: for editors.
	Seen func(n *document.Node, env *cel.Env)
}

// Compiler compiles policies in one CEL environment. It is safe for concurrent use.
type Compiler struct {
	options Options
	env     *cel.Env
}

// New makes a compiler.
func New(options Options) (*Compiler, error) {
	env, err := cel.NewEnv(options.Functions)
	if err != nil {
		return nil, err
	}
	return &Compiler{options: options, env: env}, nil
}
