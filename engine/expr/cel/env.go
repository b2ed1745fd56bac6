package cel

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Limits of a text, checked before and while it is parsed.
const (
	// MaxExpression is the largest expression, in bytes. Compile time grows
	// faster than length: 100 KB take seconds.
	MaxExpression = 4 << 10
	// MaxNodes is the largest syntax tree.
	MaxNodes = 2_000
	// MaxParens is the deepest nesting the parser follows.
	MaxParens = 100
	// MaxNesting is how deep comprehensions may nest.
	MaxNesting = 3
	// MaxRegex is the longest literal pattern, MaxRegexProgram the largest
	// compiled one.
	MaxRegex        = 256
	MaxRegexProgram = 2_000
)

// Type is a CEL type.
type Type = cel.Type

// Var declares a name that an expression may use.
type Var struct {
	Name string
	Type *Type
}

// Env compiles expressions over a set of names. It is immutable; With gives a
// larger one.
type Env struct {
	// root is CEL's environment without variables, scope the one with them.
	root  *cel.Env
	scope *scope
	// parent is the environment that own extends; nil for the one without names.
	parent    *Env
	own       []Var
	planning  *cel.Env
	provider  *provider
	consts    map[string]value.Value
	demands   *demands
	budget    *Budget
	functions vocabulary
	// calls are what checking a call of each function takes.
	calls map[string]callSteps
	// later are names that are declared after what is compiled now, for "did you mean".
	later []string
	// signatures and callable are how functions are called, and the names of all functions
	// and macros, for "did you mean".
	signatures func() map[string][]string
	callable   func() []string
}

// NewEnv makes an environment with the libraries and the builtins, and no
// names yet.
func NewEnv(functions []expr.Function) (*Env, error) {
	base, err := libraryEnv()
	if err != nil {
		return nil, fmt.Errorf("the CEL libraries: %w", err)
	}
	p := &provider{Provider: base.CELTypeProvider(), objects: map[string]*schema.Type{}}
	planning, err := planningEnv(p, adapter{base.CELTypeAdapter()}, functions)
	if err != nil {
		return nil, err
	}
	demands, err := newDemands(planning, functions)
	if err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(p),
		cel.CustomTypeAdapter(adapter{base.CELTypeAdapter()}),
		cel.EnableIdentifierEscapeSyntax(),
		cel.EnableMacroCallTracking(),
		cel.ParserExpressionSizeLimit(MaxExpression),
		cel.ParserRecursionLimit(MaxParens),
		cel.ExpressionNodeLimit(MaxNodes),
		cel.ASTValidators(literalValidator{cel.ValidateHomogeneousAggregateLiterals()}, cel.ValidateComprehensionNestingLimit(MaxNesting), shapeValidator{}, argumentValidator(functions)),
		cel.Variable(callVariable, callType),
		macros(),
	}
	options = append(options, functionOptions(functions)...)
	env, err := base.Extend(options...)
	if err != nil {
		return nil, fmt.Errorf("the builtins: %w", err)
	}
	e := &Env{root: env, scope: &scope{}, planning: planning, provider: p, demands: demands, functions: vocabularyOf(functions), calls: callStepsOf(env.Functions())}
	e.signatures = sync.OnceValue(e.readSignatures)
	e.callable = sync.OnceValue(func() []string { return callable(e) })
	return e, nil
}

// libraryEnv returns the environment of the libraries, which all others extend.
var libraryEnv = sync.OnceValues(func() (*cel.Env, error) {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(libraries())
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
})

// libraries are added to those of the API server.
func libraries() environment.VersionedOptions {
	return environment.VersionedOptions{
		IntroducedVersion: environment.DefaultCompatibilityVersion(),
		EnvOptions:        []cel.EnvOption{ext.Math(ext.MathVersion(2))},
	}
}

// With returns an environment that knows more names. A name that is declared
// again hides the former.
func (e *Env) With(vars ...Var) (*Env, error) {
	base, err := extend(e.base(), vars)
	if err != nil {
		return nil, err
	}
	out := *e
	out.scope, out.parent, out.own = &scope{env: weak.Make(base)}, e, vars
	return &out, nil
}

// scope is CEL's environment with the names of an Env. It is dropped when nobody uses it and
// made anew when it is asked for: the programs of a policy keep their Envs, and the environment
// of the last of many variables is large.
type scope struct {
	mu  sync.Mutex
	env weak.Pointer[cel.Env]
}

// base returns CEL's environment with the names.
func (e *Env) base() *cel.Env {
	if e.parent == nil {
		return e.root
	}
	e.scope.mu.Lock()
	defer e.scope.mu.Unlock()
	if env := e.scope.env.Value(); env != nil {
		return env
	}
	env, err := extend(e.root, e.Vars())
	if err != nil {
		return e.root // unreachable: With has declared the same variables
	}
	e.scope.env = weak.Make(env)
	return env
}

func extend(env *cel.Env, vars []Var) (*cel.Env, error) {
	options := make([]cel.EnvOption, len(vars))
	for i, v := range vars {
		options[i] = cel.Variable(v.Name, v.Type)
	}
	return env.Extend(options...)
}

// WithConstants returns an environment that knows the values of some names. A
// template that uses no others is a constant, and a lookup under one of them
// reads that one key.
func (e *Env) WithConstants(consts map[string]value.Value) *Env {
	out := *e
	out.consts = consts
	return &out
}

// WithBudget returns an environment that counts what it compiles, and what it
// computes of constants, for all expressions together. Such an environment is
// for one goroutine.
func (e *Env) WithBudget(budget *Budget) *Env {
	out := *e
	out.budget = budget
	return &out
}

// WithLater returns an environment that knows of names that are declared later: what is
// compiled now does not use them, but may mean them.
func (e *Env) WithLater(names []string) *Env {
	out := *e
	out.later = names
	return &out
}

// Schema returns the schema's type of an object type; nil when there is none.
func (e *Env) Schema(t *Type) *schema.Type { return e.provider.object(t.TypeName()) }

// TypeOf returns the CEL type of a schema's type.
func (e *Env) TypeOf(t *schema.Type) *Type { return e.provider.typeOf(t) }

// Names returns the declared names, for "did you mean".
func (e *Env) Names() []string {
	vars := e.Vars()
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = v.Name
	}
	return names
}

// IsList reports whether a type is a list.
func IsList(t *Type) bool { return t.Kind() == cel.ListKind }

// IsMap reports whether a type is a map.
func IsMap(t *Type) bool { return t.Kind() == cel.MapKind }

// IsDyn reports whether nothing is known of a type.
func IsDyn(t *Type) bool { return t.Kind() == cel.DynKind || t.Kind() == cel.AnyKind }

// ElemType returns the type of a list's items or a map's values.
func ElemType(t *Type) *Type {
	params := t.Parameters()
	if len(params) == 0 {
		return cel.DynType
	}
	return params[len(params)-1]
}

// ListOf is a list of a type.
func ListOf(t *Type) *Type { return cel.ListType(t) }

// MapOf is a map with string keys.
func MapOf(t *Type) *Type { return cel.MapType(cel.StringType, t) }

// The scalar types, and the type of values nothing is known of.
var (
	DynType       = cel.DynType
	StringType    = cel.StringType
	IntType       = cel.IntType
	DoubleType    = cel.DoubleType
	BoolType      = cel.BoolType
	DurationType  = cel.DurationType
	TimestampType = cel.TimestampType
	NullType      = cel.NullType
)

// TypeName writes a type for a person.
func TypeName(t *Type) string {
	name := protobufNames.Replace(t.String())
	if i := strings.LastIndex(name, "/"); i >= 0 && !strings.Contains(name, "(") {
		return name[i+1:]
	}
	return name
}

// protobufNames are types that CEL names after protocol buffers.
var protobufNames = strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration", "optional_type(", "optional(")

// Unwrap returns the type inside an optional; any other type as it is.
func Unwrap(t *Type) *Type {
	if IsOptional(t) {
		return t.Parameters()[0]
	}
	return t
}

// HasOrder reports whether of the values of a type, or of those inside its optionals, one
// may come before another.
func HasOrder(t *Type) bool {
	switch t = Unwrap(t); t.Kind() {
	case cel.ListKind, cel.MapKind, cel.TypeKind:
		return false
	case cel.OpaqueKind, cel.StructKind:
		return value.Ordered(t.TypeName())
	}
	return true
}

// IsObject reports whether a type is an object of a kind's schema.
func IsObject(t *Type) bool { return t.Kind() == cel.StructKind }

// IsOptional reports whether a type is that of an optional value.
func IsOptional(t *Type) bool { return t.Kind() == cel.OpaqueKind && t.TypeName() == "optional_type" }

// Vars returns the declared names with their types; of one that is declared twice
// the last counts.
func (e *Env) Vars() (out []Var) {
	for ; e.parent != nil; e = e.parent {
		out = slices.Concat(e.own, out)
	}
	return out
}

// TypeOfName returns the type of a declared name; one that is not declared may have any.
func (e *Env) TypeOfName(name string) *Type {
	for _, v := range slices.Backward(e.Vars()) {
		if v.Name == name {
			return v.Type
		}
	}
	return DynType
}

// Functions returns the builtins, by name.
func (e *Env) Functions() map[string]*expr.Function { return e.functions }

// TypeOfText returns the type of an expression, nil when it is wrong.
func (e *Env) TypeOfText(text string) *Type {
	if len(text) > MaxExpression {
		return nil
	}
	var ignored document.Problems
	checked := compiling{env: e, text: Text{Source: text}, problems: &ignored, again: true}.check()
	if checked == nil {
		return nil
	}
	return checked.OutputType()
}
