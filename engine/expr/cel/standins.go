package cel

import (
	"net/netip"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/edict-dev/edict/engine/value"
)

// standIns are arguments with which a function of the libraries succeeds, by its name;
// expr.Function.StandIns are those of a builtin. nil is an argument that has none.
var standIns = map[string][]ref.Val{
	operators.Divide: {types.Int(1), types.Int(1)}, operators.Modulo: {types.Int(1), types.Int(1)},
	"math.bitShiftLeft": {types.Int(1), types.Int(1)}, "math.bitShiftRight": {types.Int(1), types.Int(1)},
	"containsCIDR": {anyAddress, types.String("0.0.0.0/0")},
	"semver":       {types.String("1.0.0"), types.True},
	"flatten":      {types.DefaultTypeAdapter.NativeToValue([]ref.Val{}), types.Int(1)},
	"charAt":       {longText, types.Int(0)}, "substring": {longText, types.Int(0), nil},
	"indexOf": {longText, types.String(""), types.Int(0)}, "lastIndexOf": {longText, types.String(""), types.Int(0)},
	"getDate": timeAt, "getDayOfMonth": timeAt, "getDayOfWeek": timeAt, "getDayOfYear": timeAt, "getFullYear": timeAt,
	"getHours": timeAt, "getMilliseconds": timeAt, "getMinutes": timeAt, "getMonth": timeAt, "getSeconds": timeAt,
}

var (
	anyAddress = apiservercel.CIDR{Prefix: netip.MustParsePrefix("0.0.0.0/0")}
	// longText is longer than any text of which a character has a number.
	longText = types.String(strings.Repeat("-", 32<<10))
	timeAt   = []ref.Val{types.Timestamp{Time: time.Unix(0, 0).UTC()}, types.String("UTC")}
)

// completed returns a call that has a constant among its arguments with stand-ins in
// the place of the others; nil when there is none, or an argument has no stand-in.
func (t *trial) completed(x ast.NavigableExpr) ast.Expr {
	if x.Kind() != ast.CallKind {
		return nil
	}
	return t.withOnly(x, func(arg ast.Expr) bool { return t.constant[arg.ID()] })
}

// withOnly returns a call with stand-ins in the place of all arguments but some; nil when
// none is left, or an argument has no stand-in.
func (t *trial) withOnly(x ast.Expr, kept func(ast.Expr) bool) ast.Expr {
	args := argumentsOf(x)
	known, instead := 0, t.env.functions.standInsOf(x.AsCall().FunctionName())
	for i, arg := range args {
		switch {
		case kept(arg):
			known++
		case arg.Kind() == ast.IdentKind && arg.AsIdent() == callVariable:
		case i >= len(instead) || instead[i] == nil:
			return nil
		default:
			args[i] = ast.NewExprFactory().NewLiteral(0, instead[i])
		}
	}
	if known == 0 {
		return nil
	}
	return calledWith(x, args)
}

// argumentsOf returns the arguments of a call, first what it is called on.
func argumentsOf(x ast.Expr) (out []ast.Expr) {
	if x.AsCall().IsMemberFunction() {
		out = append(out, x.AsCall().Target())
	}
	return append(out, x.AsCall().Args()...)
}

// calledWith returns a call with other arguments.
func calledWith(x ast.Expr, args []ast.Expr) ast.Expr {
	call := x.AsCall()
	if call.IsMemberFunction() {
		return ast.NewExprFactory().NewMemberCall(x.ID(), call.FunctionName(), args[0], args[1:]...)
	}
	return ast.NewExprFactory().NewCall(x.ID(), call.FunctionName(), args...)
}

// mismatched reports whether a call failed because of the type of a stand-in.
func mismatched(err error) bool { return strings.Contains(err.Error(), "no such overload") }

func nothing(string) value.Value { return nil }
