package analyze

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Stage is an expression about candidates taken apart by what each part of it
// depends on: what depends on the candidate alone is the same for every
// selection among the same candidates, what does not depend on it is the same
// for every candidate, and only the rest has to be computed for both together.
type Stage struct {
	Form StageForm
	// Own is the candidate's side: of StageOwn all there is, of StageIn and
	// StageEqual what is looked for. It names candidates and params only.
	Own *cel.Program
	// Outer is the other side; it names no candidate.
	Outer *cel.Program
	// Parts are the operands of StageNot, StageAnd, StageOr and StageIf.
	Parts []*Stage
	// Mixed is an expression of both; Keys are the largest parts of it that
	// depend on the candidate alone: candidates that are equal in all of them
	// have the same result. No Keys means that nothing is known.
	Mixed *cel.Program
	Keys  []*cel.Program
}

// StageForm says what a stage consists of.
type StageForm int

// The forms.
const (
	StageMixed StageForm = iota
	StageOwn
	StageOuter
	StageNot
	StageAnd
	StageOr
	StageIf
	StageIn
	StageEqual
)

// StageOf takes a program apart for candidates of the given names. The result is
// never nil; where nothing can be told apart it is the program as it is.
func StageOf(p *cel.Program, candidates []string) *Stage {
	s := stager{joiner: joiner{program: p, ast: p.Tree()}, candidates: candidates}
	if out := s.stage(p.Tree().Expr()); out != nil {
		return out
	}
	return &Stage{Form: StageMixed, Mixed: p}
}

type stager struct {
	joiner     joiner
	candidates []string
}

func (s *stager) depends(e ast.Expr) (own, outer bool) { return depends(cel.Names(e), s.candidates) }

// depends reports whether candidates are among names, and whether anything else
// is that is no param.
func depends(names map[string]bool, candidates []string) (own, outer bool) {
	for name := range names {
		kind := ParseRef(name).Kind
		switch {
		case slices.Contains(candidates, name):
			own = true
		case kind != Param:
			outer = true
		}
	}
	return own, outer
}

// whole compiles a part of the expression as a program of its own.
func (s *stager) whole(e ast.Expr) *cel.Program {
	if e == s.joiner.ast.Expr() {
		return s.joiner.program
	}
	return s.joiner.compile(s.joiner.program.Env(), e)
}

// stage returns nil for a part that cannot be compiled by itself.
func (s *stager) stage(e ast.Expr) *Stage {
	own, outer := s.depends(e)
	var out *Stage
	switch {
	case !own:
		return filled(&Stage{Form: StageOuter, Outer: s.whole(e)})
	case !outer:
		return filled(&Stage{Form: StageOwn, Own: s.whole(e)})
	case e.Kind() == ast.CallKind:
		out = s.call(e)
	}
	if out == nil {
		out = s.mixed(e)
	}
	return out
}

func filled(s *Stage) *Stage {
	if s.Own == nil && s.Outer == nil && s.Mixed == nil {
		return nil
	}
	return s
}

// call takes the connectives apart; nil means that the call is none.
func (s *stager) call(e ast.Expr) *Stage {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalNot:
		return s.parts(StageNot, args)
	case operators.LogicalAnd:
		return s.parts(StageAnd, args)
	case operators.LogicalOr:
		return s.parts(StageOr, args)
	case operators.Conditional:
		return s.parts(StageIf, args)
	case operators.In:
		return s.sided(StageIn, args[0], args[1])
	case operators.Equals:
		if found := s.sided(StageEqual, args[0], args[1]); found != nil {
			return found
		}
		return s.sided(StageEqual, args[1], args[0])
	}
	return nil
}

func (s *stager) parts(form StageForm, args []ast.Expr) *Stage {
	out := &Stage{Form: form}
	for _, arg := range args {
		part := s.stage(arg)
		if part == nil {
			return nil
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// sided is a comparison of the candidate's side with the other.
func (s *stager) sided(form StageForm, candidate, other ast.Expr) *Stage {
	own, outer := s.depends(candidate)
	otherOwn, _ := s.depends(other)
	if !own || outer || otherOwn {
		return nil
	}
	left, right := s.whole(candidate), s.whole(other)
	if left == nil || right == nil {
		return nil
	}
	return &Stage{Form: form, Own: left, Outer: right}
}

// mixed gives up on an expression, but for what it reads of the candidate.
func (s *stager) mixed(e ast.Expr) *Stage {
	out := filled(&Stage{Form: StageMixed, Mixed: s.whole(e)})
	if out == nil || s.keys(e, out) {
		return out
	}
	out.Keys = nil
	return out
}

// keys collects the largest parts that depend on the candidate alone; false
// means that one cannot be compiled by itself, or stands inside a loop.
func (s *stager) keys(e ast.Expr, out *Stage) bool {
	own, outer := s.depends(e)
	switch {
	case !own:
		return true
	case !outer:
		return s.key(e, out)
	case e.Kind() == ast.ComprehensionKind:
		return false
	}
	return !slices.ContainsFunc(cel.Children(e), func(child ast.Expr) bool { return !s.keys(child, out) })
}

func (s *stager) key(e ast.Expr, out *Stage) bool {
	p := s.whole(e)
	if p == nil {
		return false
	}
	if !slices.ContainsFunc(out.Keys, func(k *cel.Program) bool { return k.Source() == p.Source() }) {
		out.Keys = append(out.Keys, p)
	}
	return true
}
