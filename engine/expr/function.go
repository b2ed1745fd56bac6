package expr

import (
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

// Type names the type of a builtin's argument or result, as in CEL: "string",
// "list" of "string" and so on.
type Type struct {
	Name string
	Of   []Type
}

// The types that builtins speak of.
var (
	Dyn       = Type{Name: "dyn"}
	String    = Type{Name: "string"}
	Bytes     = Type{Name: "bytes"}
	Int       = Type{Name: "int"}
	Bool      = Type{Name: "bool"}
	Timestamp = Type{Name: "timestamp"}
	Duration  = Type{Name: "duration"}
	// Object is what Function.Reject sees of an object whose fields are known.
	Object = Type{Name: "object"}
	// Element is what a list has, whatever that is: the same throughout a signature.
	Element = Type{Name: "T"}
)

// ListOf is a list of values of type t.
func ListOf(t Type) Type { return Type{Name: "list", Of: []Type{t}} }

// MapOf is a map with string keys and values of type t.
func MapOf(t Type) Type { return Type{Name: "map", Of: []Type{t}} }

// OptionalOf is a value of type t or none.
func OptionalOf(t Type) Type { return Type{Name: "optional", Of: []Type{t}} }

// EitherOf is, of an argument, a value of one of two types.
func EitherOf(one, other Type) Type { return Type{Name: either, Of: []Type{one, other}} }

// MaybeOf is, of an argument, a value of type t or an optional of it.
func MaybeOf(t Type) Type { return EitherOf(OptionalOf(t), t) }

const either = "either"

// Forms returns the types that an argument of type t may have.
func (t Type) Forms() []Type {
	if t.Name != either {
		return []Type{t}
	}
	return t.Of
}

// String writes the type as in CEL.
func (t Type) String() string {
	switch {
	case len(t.Of) == 0:
		return t.Name
	case t.Name == either && t.Of[0].Name == "optional":
		return t.Of[1].String() + " or optional"
	case t.Name == either:
		return t.Of[0].String() + " or " + t.Of[1].String()
	}
	parts := make([]string, len(t.Of))
	for i, o := range t.Of {
		parts[i] = o.String()
	}
	return t.Name + "(" + strings.Join(parts, ", ") + ")"
}

// Function is a builtin that expressions may call.
type Function struct {
	// Name is how it is called: "grace.holds".
	Name string
	// Args and Result are its types.
	Args   []Type
	Result Type
	// Doc says what it gives; Example calls it.
	Doc     string
	Example string
	// Reject returns why the static types of the arguments can never be right,
	// "" when they can; nil accepts all that Args does. The types are those of
	// the values inside optionals; Object is the type of an object with fields.
	Reject func(args []Type) string
	// StandIns are arguments with which a call succeeds, for those that only an
	// evaluation knows: a call with a constant among its arguments is tried with them
	// when an expression is compiled. nil is an argument that has none.
	StandIns []value.Value
	// Timed says that the result depends on the time of the evaluation; such
	// a function tells through Call.Flip when its result changes.
	Timed bool
	// Recalls says that the result depends on what earlier evaluations of
	// the key remembered.
	Recalls bool
	// Needs tells from the arguments what a call is going to take, before it is
	// made; a call that would pass a limit is not. It takes no longer than going
	// through the arguments once.
	Needs func(args []value.Value) Need
	// Small says instead that a call takes a few steps and bytes, whatever its
	// arguments are.
	Small bool
	// Bounded says that a call goes through its arguments at most once and builds
	// no text and no list: an expression of such calls alone needs no count of
	// its steps while it runs.
	Bounded bool
	// Scans says that the function looks for an item of its first argument, a list;
	// nil is one that reads all of its arguments.
	Scans *Scan
	// Reads are the fields of each argument that a call reads, such as metadata.name; nil
	// is all of all arguments.
	Reads [][]string
	// Match says that the function matches labels, which an index can look up.
	Match LabelMatch
	// Do computes the result. It must not keep args, whose memory is used for the next
	// call; what is in them may be kept. A nil Do is a builtin that can be checked but
	// not run by this build.
	Do func(call *Call, args []value.Value) (value.Value, error)
}

// Scan is how a function looks for an item of a list.
type Scan struct {
	// Fields are what it reads of each item.
	Fields []string
	// Returns says that the result is the item, or none.
	Returns bool
}

// LabelMatch is how a function with two arguments matches the second, the labels
// of an object, with the first.
type LabelMatch int

// The ways to match labels.
const (
	NoMatch LabelMatch = iota
	// MatchSelector takes a label selector.
	MatchSelector
	// MatchMap takes a map of labels, all of which are needed.
	MatchMap
)

// Call is what an evaluation offers to the builtins it calls.
type Call struct {
	// Now is the time of the evaluation.
	Now time.Time
	// Flip records that the caller's result changes at a later time.
	Flip func(at time.Time)
	// Recall returns what was remembered under a name; nil when nothing was.
	Recall func(name string) value.Value
}

// Signature returns how the function is called, with its types.
func (f *Function) Signature() string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.String()
	}
	return f.Name + "(" + strings.Join(args, ", ") + ") -> " + f.Result.String()
}
