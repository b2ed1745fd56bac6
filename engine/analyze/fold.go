package analyze

import (
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Fold is an expression about a list that asks only how many items it has and
// how many of them differ: it can be computed from these numbers.
type Fold struct {
	// Program names the numbers instead of the list.
	Program *cel.Program
	// Size is the name of the number of items; "" when it is not used.
	Size string
	// Distinct are the numbers of different values.
	Distinct []FoldDistinct
}

// FoldDistinct is the number of different values of Of over the list, whose
// items it calls Variable.
type FoldDistinct struct {
	Name, Variable string
	Of             *cel.Program
}

// foldNames begin the names of the numbers.
const foldNames = "edict_fold_"

type folder struct {
	program *cel.Program
	list    string
	info    *ast.SourceInfo
	factory ast.ExprFactory
	fold    *Fold
	vars    []cel.Var
	ok      bool
}

// FoldOf rewrites a program to use numbers about the named list; nil when it
// uses the list in another way.
func FoldOf(p *cel.Program, list string) *Fold {
	info := ast.CopySourceInfo(p.Tree().SourceInfo())
	factory := ast.NewExprFactory()
	f := folder{program: p, list: list, info: info, factory: factory, fold: &Fold{}, ok: true}
	copied := factory.CopyExpr(p.Tree().Expr())
	f.walk(copied)
	if !f.ok {
		return nil
	}
	env, err := p.Env().With(f.vars...)
	if err != nil {
		return nil
	}
	if f.fold.Program = p.Part(env, copied, info); f.fold.Program == nil {
		return nil
	}
	return f.fold
}

func (f *folder) walk(e ast.Expr) {
	if macro, ok := f.info.GetMacroCall(e.ID()); ok && macro.Kind() == ast.CallKind && macro.AsCall().FunctionName() == cel.CountDistinct {
		f.distinct(e, macro.AsCall().Args())
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		f.ok = f.ok && e.AsIdent() != f.list
	case ast.ComprehensionKind:
		f.ok = f.ok && !cel.Names(e)[f.list]
	case ast.CallKind:
		if f.isSize(e.AsCall()) {
			f.size(e)
			return
		}
		fallthrough
	default:
		for _, child := range cel.Children(e) {
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
		f.vars = append(f.vars, cel.Var{Name: f.fold.Size, Type: cel.IntType})
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
	env, err := f.program.Env().With(cel.Var{Name: d.Variable, Type: cel.DynType})
	if err == nil {
		d.Of = f.program.Part(env, args[2], f.info)
	}
	if d.Of == nil || !Own(d.Of, []string{d.Variable}) {
		f.ok = false
		return
	}
	f.fold.Distinct = append(f.fold.Distinct, d)
	f.vars = append(f.vars, cel.Var{Name: d.Name, Type: cel.IntType})
	f.replace(e, d.Name)
}
