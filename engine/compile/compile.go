package compile

import (
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// Policy compiles one policy. The plan is nil if any problem is an error.
func (c *Compiler) Policy(doc *v1alpha1.Policy, options PolicyOptions) (*plan.Policy, []document.Problem) {
	problems := &findings{at: doc.Pos}
	budget := cel.NewBudget()
	defer budget.Close()
	var out *plan.Policy
	problems.surviving(func() {
		if s := c.sections(doc, options, budget, problems); s != nil {
			if out = s.compile(doc); out != nil {
				out.Kept = budget.Kept()
			}
		}
	})
	if problems.HasErrors() {
		return nil, problems.List()
	}
	return out, problems.List()
}
