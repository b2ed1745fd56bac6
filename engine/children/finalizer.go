package children

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/identity"

	"github.com/edict-dev/edict/engine/document"
)

// The rules that add the finalizer and remove it.
const (
	heldName  = "finalizer of the children"
	letGoName = "finalizer of the children no longer needed"
	untilName = "condition of the finalizer has held"
)

// holds reports whether the policy has a finalizer that can be kept: what is wrong
// with it is reported.
func (e *expansion) holds(sets []*set) bool {
	f := e.policy.Spec.Finalizer.Name
	switch {
	case len(sets) == 0:
	case !f.Set() && e.policy.Spec.Finalizer.Until.Set():
		e.problems.Hintf(e.policy.Spec.Finalizer.Pos, "finalizer: {name: platform.example.com/children, until: ...}", "the finalizer needs a name: nothing else holds the primary object")
	case !f.Set():
	case !strings.Contains(f.Value, "/") && !strings.Contains(f.Value, "${"):
		e.problems.Hintf(f.Pos(), "finalizer: platform.example.com/children", "the finalizer needs a name with a domain")
	case len(deleted(sets)) == 0:
		e.problems.Hintf(f.Pos(), "leave out the finalizer", "all children stay when the primary object is deleted: there is nothing to hold it for")
	default:
		return true
	}
	return false
}

// deleted are the sets whose objects are deleted with the primary object.
func deleted(sets []*set) (out []*set) {
	for _, s := range sets {
		if !s.orphan() {
			out = append(out, s)
		}
	}
	return out
}

// untilHeld is true once the condition of the finalizer has held.
func (e *expansion) untilHeld() string {
	return fmt.Sprintf("object.metadata.?annotations[?%q].hasValue()", identity.MarkKey(UntilPrefix, e.policy.ID(), ""))
}

// until is the rule that writes an annotation when the condition of the finalizer holds. The
// condition may read children, which are deleted then.
func (e *expansion) until() *document.Node {
	until := e.policy.Spec.Finalizer.Until
	at := until.Pos()
	noted := mapping(at, field{identity.MarkKey(UntilPrefix, e.policy.ID(), ""), document.NewText(at, "true")})
	return mapping(at, field{"name", document.NewText(at, untilName)},
		field{"when", document.NewText(at, "object != null && has(object.metadata.deletionTimestamp) && !"+e.untilHeld()+" && ("+until.Value+")")},
		field{"do", document.NewList(at, mapping(at, field{"annotations", mapping(at, field{"set", noted})}))})
}

// hold returns the rules that hold the primary object until its children are gone. They
// come before the others: no child is made without the finalizer.
func (e *expansion) hold(sets []*set, former []unlisted) []*document.Node {
	var left []string
	for _, s := range deleted(sets) {
		left = append(left, "size(children."+s.name+")")
	}
	for i, u := range former {
		left = append(left, "size(inputs."+u.name(i)+")")
	}
	at := e.policy.Spec.Finalizer.Pos
	gone := fmt.Sprintf("object != null && variables.%s && %s == 0", releasedName, strings.Join(left, " + "))
	kept := "!variables." + releasedName
	var out []*document.Node
	if e.policy.Spec.Finalizer.Until.Set() {
		kept += " && !has(object.metadata.deletionTimestamp)"
		out = append(out, e.until())
	}
	return append(out, e.finalizer(heldName, kept), e.finalizer(letGoName, gone, field{"absent", truth(at)}))
}

// finalizer is a rule about the finalizer.
func (e *expansion) finalizer(name, when string, more ...field) *document.Node {
	at := e.policy.Spec.Finalizer.Pos
	action := mapping(at, append([]field{{"name", e.policy.Spec.Finalizer.Name.Node}}, more...)...)
	return mapping(at, field{"name", document.NewText(at, name)}, field{"when", document.NewText(at, when)}, field{"do", document.NewList(at, mapping(at, field{"finalizer", action}))})
}
