package rego

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// checkRefs refuses references under data that no rule answers: a policy has
// no data but its rules, and Rego would give nothing without a word.
func (p *program) checkRefs() {
	for _, m := range p.compiler.Modules {
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if message, hint := p.missing(ref); message != "" {
				p.problems.Add(p.sources.problem(ref[0].Location, message, hint))
			}
			return false
		})
	}
}

// missing says that a reference leads to no rule and no package; "" when it
// does lead to one, as far as it is known.
func (p *program) missing(ref ast.Ref) (message, hint string) {
	if !ref.HasPrefix(ast.DefaultRootRef) {
		return "", ""
	}
	node := p.compiler.RuleTree.Child(ast.DefaultRootDocument.Value)
	for i, part := range ref[1:] {
		name, ok := part.Value.(ast.String)
		if !ok || node != nil && len(node.Values) > 0 {
			return "", ""
		}
		next := node.Child(name)
		if next == nil {
			return fmt.Sprintf("undefined name %s", ref[:i+2]), document.DidYouMean(ref[:i+2].String(), p.children(ref[:i+1], node))
		}
		node = next
	}
	return "", ""
}

func (p *program) children(at ast.Ref, node *ast.TreeNode) []string {
	var names []string
	for name := range childrenOf(node) {
		names = append(names, at.Append(ast.NewTerm(name)).String())
	}
	slices.Sort(names)
	return names
}

func childrenOf(node *ast.TreeNode) map[ast.Value]*ast.TreeNode {
	if node == nil {
		return nil
	}
	return node.Children
}
