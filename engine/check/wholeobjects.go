package check

import (
	"fmt"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
)

// wholeObjects finds where all fields of an object are read.
func wholeObjects(p *policy) {
	p.plan.Graph.EachPart(func(n *analyze.Node) {
		if mask := n.Reads[analyze.Object]; mask != nil && mask.All {
			p.whole(n, "primary object")
		}
		for i, in := range p.plan.Inputs {
			if mask := n.Reads[analyze.Root{Kind: analyze.Input, Index: i}]; mask != nil && mask.All && !in.Off {
				p.whole(n, fmt.Sprintf("objects of the input %s", in.Written()))
			}
		}
	})
}

// whole reports a part of the policy that reads all fields of some objects.
func (p *policy) whole(n *analyze.Node, what string) {
	p.report(document.WholeObject, n.Pos, "read or hand on the fields that are needed, such as {name: ${item.metadata.name}}",
		fmt.Sprintf("all fields of the %s are read here: they are cached whole, and every change of one causes an evaluation", what))
}
