package rego

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// checkRefs refuses references under data that no rule answers: a policy has
// no data but its rules, and Rego would give nothing without a word.
func (l *Library) checkRefs(problems *document.Problems) {
	for _, m := range l.compiler.Modules {
		ast.WalkWiths(m, func(w *ast.With) bool {
			if !replaceable(w.Target) || !replaceable(w.Value) {
				problems.Add(l.sources.problem(w.Location, document.Error, "with replaces only input and rules, not functions", ""))
			}
			return false
		})
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if message, hint := l.missing(ref); message != "" {
				problems.Add(l.sources.problem(ref[0].Location, document.Error, message, hint))
			}
			return false
		})
	}
}

// replaceable says that a term of a with is not a function of Rego's own: put
// in by another name it would run without its bound.
func replaceable(t *ast.Term) bool {
	ref, ok := t.Value.(ast.Ref)
	return !ok || ref.HasPrefix(ast.DefaultRootRef) || ref.HasPrefix(ast.InputRootRef) || ast.BuiltinMap[ref.String()] == nil
}

// missing says that a reference leads to no rule and no package; "" when it
// does lead to one, as far as it is known.
func (l *Library) missing(ref ast.Ref) (message, hint string) {
	if !ref.HasPrefix(ast.DefaultRootRef) {
		return "", ""
	}
	node := l.compiler.RuleTree.Child(ast.DefaultRootDocument.Value)
	for i, part := range ref[1:] {
		name, ok := part.Value.(ast.String)
		if !ok || node != nil && len(node.Values) > 0 {
			return "", ""
		}
		next := node.Child(name)
		if next == nil {
			return fmt.Sprintf("nothing is called %s", ref[:i+2]), document.DidYouMean(ref[:i+2].String(), l.children(ref[:i+1], node))
		}
		node = next
	}
	return "", ""
}

func (l *Library) children(at ast.Ref, node *ast.TreeNode) []string {
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

// reachable gives the rules that a query needs, itself included.
func (l *Library) reachable(ref ast.Ref) []*ast.Rule {
	queue := l.compiler.GetRulesExact(ref)
	seen := map[*ast.Rule]bool{}
	for len(queue) > 0 {
		rule := queue[0]
		queue = queue[1:]
		if seen[rule] {
			continue
		}
		seen[rule] = true
		for next := range l.compiler.Graph.Dependencies(rule) {
			if r, ok := next.(*ast.Rule); ok {
				queue = append(queue, r)
			}
		}
	}
	out := make([]*ast.Rule, 0, len(seen))
	for rule := range seen {
		out = append(out, rule)
	}
	slices.SortFunc(out, func(a, b *ast.Rule) int { return a.Location.Compare(b.Location) })
	return out
}
