package cel

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Tree returns the checked syntax tree. It must not be changed.
func (p *Program) Tree() *ast.AST { return p.checked.NativeRep() }

// Text returns where the program is written.
func (p *Program) Text() Text { return p.text }

// Env returns the environment that the program was compiled in.
func (p *Program) Env() *Env { return p.env }

// Names returns the declared names that the program uses, as Names does for its
// syntax tree. The map must not be changed.
func (p *Program) Names() map[string]bool { return p.names }

// Weight returns how many steps a run takes by the text, and whether that is all:
// fixed is false when loops and calls add to it, which only a run can tell.
func (p *Program) Weight() (steps uint64, fixed bool) { return p.weight, !p.varies }

// Part compiles a part of the program, or a rewritten copy of one, by itself in
// env; info is where its macros are found. It returns nil when that cannot be
// done. Errors of the part are placed where the program is written.
func (p *Program) Part(env *Env, e ast.Expr, info *ast.SourceInfo) *Program {
	text, err := parser.Unparse(e, info)
	if err != nil {
		return nil
	}
	var ignored document.Problems
	text = strings.ReplaceAll(text, ".orValue(dyn({}))", ".orValue({})") // as it is written, see untypeDefaults
	return env.compile(Text{Node: p.text.Node, Source: text}, &ignored)
}

// Constant returns the value of a name that WithConstants gave; nil when its
// value is not known.
func (e *Env) Constant(name string) value.Value { return e.consts[name] }

// Function returns the builtin of a name; nil when there is none.
func (e *Env) Function(name string) *expr.Function { return e.functions[name] }

// LiteralString returns the text of a string literal.
func LiteralString(e ast.Expr) (text string, ok bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// IsNull reports whether an expression is the literal null.
func IsNull(e ast.Expr) bool { return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.NullValue }

// At returns the place of a part of the program.
func (p *Program) At(e ast.Expr) document.Position {
	if start := p.Tree().SourceInfo().GetStartLocation(e.ID()); start.Line() > 0 {
		return p.text.at(offsetOf(p.text.Source, start.Line(), start.Column()))
	}
	return p.text.at(0)
}
