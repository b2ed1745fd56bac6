package cel

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// callVariable carries the evaluation's Call to the builtins that need it. No
// expression can spell it.
const callVariable = "@call"

var callType = cel.OpaqueType("edict.Call")

// CallValue wraps a Call so that a scope can give it out under CallVariable.
func CallValue(call *expr.Call) ref.Val { return callValue{call: call} }

// CallVariable is the name under which a scope must give out its Call.
const CallVariable = callVariable

type callValue struct {
	types.Null
	call *expr.Call
}

func (callValue) Type() ref.Type                            { return callType }
func (callValue) ConvertToNative(reflect.Type) (any, error) { return nil, errors.New("not a value") }
func (c callValue) Value() any                              { return c.call }
func (callValue) Equal(ref.Val) ref.Val                     { return types.False }

func functionOptions(functions []expr.Function) []cel.EnvOption {
	var options []cel.EnvOption
	for _, f := range functions {
		options = append(options, functionOption(f))
		if needsCall(f) {
			options = append(options, cel.Macros(callMacro(f)))
		}
	}
	return options
}

func needsCall(f expr.Function) bool { return f.Timed || f.Recalls }

// functionOption declares a builtin. One that depends on the evaluation gets
// a further argument, which callMacro adds to every call of it.
func functionOption(f expr.Function) cel.EnvOption {
	var overloads []cel.FunctionOpt
	for i, args := range forms(f.Args) {
		if needsCall(f) {
			args = append(args, callType)
		}
		overloads = append(overloads, cel.Overload(overloadOf(f, i), args, typeFrom(f.Result), bound(f, len(args))))
	}
	return cel.Function(f.Name, overloads...)
}

// forms returns the types of the arguments of each overload of a builtin.
func forms(args []expr.Type) [][]*cel.Type {
	out := [][]*cel.Type{{}}
	for _, a := range args {
		var longer [][]*cel.Type
		for _, form := range a.Forms() {
			for _, before := range out {
				longer = append(longer, append(slices.Clone(before), typeFrom(form)))
			}
		}
		out = longer
	}
	return out
}

func overloadOf(f expr.Function, form int) string {
	id := strings.ReplaceAll(f.Name, ".", "_") + "_builtin"
	if form > 0 {
		id += strconv.Itoa(form + 1)
	}
	return id
}

// bound is what implements an overload. One of two arguments that depends on nothing
// else can be evaluated for many rows at once.
func bound(f expr.Function, args int) cel.OverloadOpt {
	if args != 2 || needsCall(f) || f.Do == nil {
		return cel.FunctionBinding(binding(f))
	}
	return cel.BinaryBinding(func(a, b ref.Val) ref.Val {
		x, _, err := argument(a)
		if err != nil {
			return types.WrapErr(err)
		}
		y, _, err := argument(b)
		if err != nil {
			return types.WrapErr(err)
		}
		args := twoArguments.Get().(*[2]value.Value)
		args[0], args[1] = x, y
		out := result(f, nil, args[:])
		clear(args[:])
		twoArguments.Put(args)
		return out
	})
}

// twoArguments are lists of arguments, to be used again.
var twoArguments = sync.Pool{New: func() any { return &[2]value.Value{} }}

func binding(f expr.Function) func(...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		if f.Do == nil {
			return types.NewErr("%s is declared, but this build cannot run it", f.Name)
		}
		call, settled, err := prepare(f, args)
		if err != nil {
			return types.WrapErr(err)
		}
		return result(f, call, settled)
	}
}

func result(f expr.Function, call *expr.Call, args []value.Value) ref.Val {
	out, err := f.Do(call, args)
	if err != nil {
		return types.WrapErr(fmt.Errorf("%s: %w", f.Name, err))
	}
	return out
}

// prepare settles the arguments in place and takes the call from among them.
func prepare(f expr.Function, args []ref.Val) (call *expr.Call, out []value.Value, err error) {
	if needsCall(f) {
		last := args[len(args)-1]
		args = args[:len(args)-1]
		wrapped, ok := last.(callValue)
		if !ok {
			return nil, nil, fmt.Errorf("%s cannot be used here", f.Name)
		}
		call = wrapped.call
	}
	for i, a := range args {
		if args[i], _, err = argument(a); err != nil {
			return nil, nil, err
		}
	}
	return call, args, nil
}

// argument settles an argument, and returns the number of nodes that it visited. An
// optional part of an object is settled already.
func argument(v ref.Val) (out value.Value, walked int, err error) {
	if o, ok := v.(*types.Optional); ok && o.HasValue() {
		switch o.GetValue().(type) {
		case *value.List, *value.Map:
			return v, 0, nil
		}
	}
	return value.SettleCounting(v)
}

// callMacro rewrites f(a, b) to f(a, b, call).
func callMacro(f expr.Function) cel.Macro {
	expand := func(mef cel.MacroExprFactory, args []ast.Expr) ast.Expr {
		return mef.NewCall(f.Name, append(args, mef.NewIdent(callVariable))...)
	}
	namespace, name, qualified := strings.Cut(f.Name, ".")
	if !qualified {
		return cel.GlobalMacro(f.Name, len(f.Args), func(mef cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
			return expand(mef, args), nil
		})
	}
	return cel.ReceiverMacro(name, len(f.Args), func(mef cel.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		if target.Kind() != ast.IdentKind || target.AsIdent() != namespace {
			return nil, nil
		}
		return expand(mef, args), nil
	})
}

func typeFrom(t expr.Type) *cel.Type {
	switch t.Name {
	case "string":
		return cel.StringType
	case "bytes":
		return cel.BytesType
	case "int":
		return cel.IntType
	case "bool":
		return cel.BoolType
	case "timestamp":
		return cel.TimestampType
	case "duration":
		return cel.DurationType
	case "list":
		return cel.ListType(typeFrom(t.Of[0]))
	case "map":
		return cel.MapType(cel.StringType, typeFrom(t.Of[0]))
	case "optional":
		return cel.OptionalType(typeFrom(t.Of[0]))
	case expr.Element.Name:
		return cel.TypeParamType(t.Name)
	default:
		return cel.DynType
	}
}
