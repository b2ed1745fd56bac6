package cel

import (
	"strings"

	"github.com/google/cel-go/common/ast"
)

// Fold is an expression about a list that asks only how many items it has and
// how many of them differ: it can be computed from these numbers.
type Fold struct {
	// Program names the numbers instead of the list.
	Program *Program
	// Size is the name of the number of items; "" when it is not used.
	Size string
	// Distinct are the numbers of different values.
	Distinct []FoldDistinct
}

// FoldDistinct is the number of different values of Of over the list, whose
// items it calls Variable.
type FoldDistinct struct {
	Name, Variable string
	Of             *Program
}

// foldNames begin the names of the numbers.
const foldNames = "edict_fold_"

type folder struct {
	program *Program
	list    string
	info    *ast.SourceInfo
	factory ast.ExprFactory
	fold    *Fold
	vars    []Var
	ok      bool
}

func (f *folder) walk(e ast.Expr) {
	if macro, ok := f.info.GetMacroCall(e.ID()); ok && macro.Kind() == ast.CallKind && macro.AsCall().FunctionName() == countDistinct {
		f.distinct(e, macro.AsCall().Args())
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		f.ok = f.ok && e.AsIdent() != f.list
	case ast.ComprehensionKind:
		f.ok = f.ok && idents(e, []string{f.list}) == 0
	case ast.CallKind:
		if f.isSize(e.AsCall()) {
			f.size(e)
			return
		}
		fallthrough
	default:
		for _, child := range children(e) {
			f.walk(child)
		}
	}
}

func (f *folder) isSize(call ast.CallExpr) bool {
	if call.FunctionName() != "size" {
		return false
	}
	args := call.Args()
	if call.IsMemberFunction() {
		args = []ast.Expr{call.Target()}
	}
	return len(args) == 1 && args[0].Kind() == ast.IdentKind && args[0].AsIdent() == f.list
}

func (f *folder) size(e ast.Expr) {
	if f.fold.Size == "" {
		f.fold.Size = foldNames + "size"
		f.vars = append(f.vars, Var{Name: f.fold.Size, Type: IntType})
	}
	f.replace(e, f.fold.Size)
}

func (f *folder) replace(e ast.Expr, name string) {
	f.info.ClearMacroCall(e.ID())
	e.SetKindCase(f.factory.NewIdent(e.ID(), name))
}

// distinct replaces countDistinct(list, variable, of).
func (f *folder) distinct(e ast.Expr, args []ast.Expr) {
	if f.ok = f.ok && len(args) == 3 && args[0].Kind() == ast.IdentKind && args[0].AsIdent() == f.list && args[1].Kind() == ast.IdentKind; !f.ok {
		return
	}
	d := FoldDistinct{Name: foldNames + strings.Repeat("i", len(f.fold.Distinct)+1), Variable: args[1].AsIdent()}
	env, err := f.program.env.With(Var{Name: d.Variable, Type: DynType})
	if err == nil {
		d.Of = unparse(env, args[2], f.info, f.program.text)
	}
	if d.Of == nil || !d.Of.Own([]string{d.Variable}) {
		f.ok = false
		return
	}
	f.fold.Distinct = append(f.fold.Distinct, d)
	f.vars = append(f.vars, Var{Name: d.Name, Type: IntType})
	f.replace(e, d.Name)
}
