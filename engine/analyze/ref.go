package analyze

import (
	"strings"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Ref is a name as expressions write it: what it stands for, and its name among
// those of that kind. The Ref of the param size is written "params.size".
type Ref struct {
	Kind Kind
	// Name has no qualifier, except that of a Context, of children, which are inputs,
	// and of an input of several kinds, which is a variable: it is part of such a name.
	Name string
}

// The names that every evaluation gives.
var (
	ObjectRef    = Ref{Kind: Primary, Name: "object"}
	KeyName      = Ref{Kind: Key, Name: "name"}
	KeyNamespace = Ref{Kind: Key, Name: "namespace"}
	Now          = Ref{Kind: Context, Name: "now"}
	Initial      = Ref{Kind: Context, Name: "initial"}
	Leaving      = Ref{Kind: Context, Name: "leaving"}
	// Failures has the errors of children, by the name of their set and by their key there.
	Failures = Ref{Kind: Context, Name: "__failures"}
	// Call is the builtins' access to the evaluation.
	Call = Ref{Kind: Context, Name: cel.CallVariable}
	// ErrorMessage is known where an error is handled only.
	ErrorMessage = Ref{Kind: Context, Name: cel.QualifyError + ".message"}
)

// ParamRef returns the name of a param.
func ParamRef(name string) Ref { return Ref{Kind: Param, Name: name} }

// InputRef returns the name of an input.
func InputRef(name string) Ref { return Ref{Kind: Input, Name: name} }

// ChildRef returns the name of the input that has the children of a name.
func ChildRef(name string) Ref { return InputRef(cel.QualifyChildren + "." + name) }

// VariableRef returns the name of a variable of the policy.
func VariableRef(name string) Ref { return Ref{Kind: Variable, Name: name} }

// String returns the name as expressions write it.
func (r Ref) String() string {
	qualifier, ok := qualifiers[r.Kind]
	union := r.Kind == Variable && strings.HasPrefix(r.Name, cel.QualifyInputs+".")
	if !ok || union || r.Kind == Input && strings.HasPrefix(r.Name, cel.QualifyChildren+".") {
		return r.Name
	}
	return qualifier + "." + r.Name
}

// qualifiers begin the names of a kind in expressions.
var qualifiers = map[Kind]string{Param: cel.QualifyParams, Input: cel.QualifyInputs, Variable: cel.QualifyVariables, Key: cel.QualifyKey}

// qualified is the kind of the names that a qualifier begins.
var qualified = func() map[string]Kind {
	out := map[string]Kind{}
	for kind, qualifier := range qualifiers {
		out[qualifier] = kind
	}
	return out
}()

// given are the names of the evaluation without a qualifier.
var given = map[string]Ref{
	ObjectRef.Name: ObjectRef, Now.Name: Now, Initial.Name: Initial, Leaving.Name: Leaving, Failures.Name: Failures, Call.Name: Call, ErrorMessage.Name: ErrorMessage,
}

// ParseRef parses a name as expressions write it. A name that the policy does not
// declare is Local.
func ParseRef(name string) Ref {
	if r, ok := given[name]; ok {
		return r
	}
	switch qualifier, rest, found := strings.Cut(name, "."); {
	case found && qualifier == cel.QualifyChildren:
		return ChildRef(rest)
	case found && qualified[qualifier] != Local:
		return Ref{Kind: qualified[qualifier], Name: rest}
	}
	return Ref{Kind: Local, Name: name}
}
