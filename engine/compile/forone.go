package compile

import (
	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// forOne notes whether an object that is applied says which primary object it is for: it
// is a child, or has owners. Whether that primary object exists is read then.
func forOne(s *scope, ts *targets, a *plan.Child, metadata *document.Node) {
	a.Others = -1
	a.Kept = a.Apply && metadata.Get("labels").Get(children.ChildLabel) != nil
	if a.Kept || a.Apply && metadata.Get("ownerReferences") != nil {
		a.Others = ts.others(s.node)
	}
}
