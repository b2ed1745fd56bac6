package rego

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// outline is what is to be known of modules without compiling them again, as
// plain data. Places are lines and columns of the modules' texts.
type outline struct {
	Problems []document.Problem
	Packages []packageOutline
	Rules    []ruleOutline
}

// packageOutline is a module's package.
type packageOutline struct {
	Module, Name string
	At           document.Position
}

// ruleOutline is a rule. One that is written in several parts is several.
type ruleOutline struct {
	// Module is where it stands, Name how it is asked for: data.a.rule. Short is
	// its name in its package.
	Module, Name, Short string
	Function            bool
	At                  document.Position
	// Uses are the rules that it needs itself, as indexes; Reads is what it reads
	// of the input.
	Uses  []int
	Reads []readOutline
	// Lines are where its head and its expressions stand, one place per line.
	Lines []document.Position
}

// readOutline is a read of the input.
type readOutline struct {
	Path []string
	At   document.Position
}

// isTest reports whether the rule is a test.
func (r *ruleOutline) isTest() bool { return strings.HasPrefix(r.Short, "test_") }

// gives reports whether the rule gives what is asked for, or a part of it, as
// data.a.rule.part does of data.a.rule.
func (r *ruleOutline) gives(name string) bool {
	rest, below := strings.CutPrefix(r.Name, name)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// describe returns the outline as JSON.
func (p *program) describe() []byte {
	out := outline{Problems: p.problems.List()}
	if !p.problems.HasErrors() {
		p.outlineRules(&out)
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // it is texts and numbers
	}
	return text
}

func (p *program) outlineRules(out *outline) {
	var rules []*ast.Rule
	for name, m := range p.compiler.Modules {
		out.Packages = append(out.Packages, packageOutline{name, strings.TrimPrefix(m.Package.Path.String(), "data."), p.sources.at(m.Package.Location)})
		ast.WalkRules(m, func(r *ast.Rule) bool { rules = append(rules, r); return false })
	}
	slices.SortFunc(out.Packages, func(a, b packageOutline) int { return strings.Compare(a.Module, b.Module) })
	slices.SortStableFunc(rules, func(a, b *ast.Rule) int { return a.Location.Compare(b.Location) })
	index := map[*ast.Rule]int{}
	for i, r := range rules {
		index[r] = i
	}
	for _, r := range rules {
		one := ruleOutline{
			Module: r.Location.File, Name: r.Ref().GroundPrefix().String(), Short: r.Head.Ref().String(),
			Function: len(r.Head.Args) > 0, At: p.sources.at(r.Location), Reads: p.reads(r), Lines: p.linesOf(r),
		}
		for used := range p.compiler.Graph.Dependencies(r) {
			if u, ok := used.(*ast.Rule); ok {
				one.Uses = append(one.Uses, index[u])
			}
		}
		slices.Sort(one.Uses)
		out.Rules = append(out.Rules, one)
	}
}
