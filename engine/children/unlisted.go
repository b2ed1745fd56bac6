package children

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// unlisted are the objects of a kind that the policy has kept as a child which it no
// longer has: a former version of its text had it.
type unlisted struct {
	expansion        *expansion
	apiVersion, kind *document.Node
	// known are the names of the children.
	known []string
}

// unlisted returns one for each kind of the children.
func (e *expansion) unlisted(sets []*set) (out []unlisted) {
	var known []string
	for _, s := range sets {
		known = append(known, fmt.Sprintf("%q", s.name))
	}
	seen := map[string]bool{}
	for _, s := range sets {
		u := unlisted{expansion: e, apiVersion: s.doc.Apply.Node.Get("apiVersion"), kind: s.doc.Apply.Node.Get("kind"), known: known}
		if kind := u.apiVersion.Text + " " + u.kind.Text; !seen[kind] {
			seen[kind] = true
			out = append(out, u)
		}
	}
	return out
}

// unlistedPrefix begins the name of an input that finds children of sets that the policy
// no longer has; a number ends it.
const unlistedPrefix = "unlisted_"

func (u unlisted) name(i int) string { return fmt.Sprintf("%s%d", unlistedPrefix, i+1) }

func (u unlisted) input(i int) *document.Node {
	at := u.expansion.policy.Pos
	where := fmt.Sprintf("%s && !(%s in [%s])", u.expansion.mine(), label(ChildLabel), strings.Join(append([]string{`""`}, u.known...), ", "))
	return mapping(at, field{"name", document.NewText(at, u.name(i))}, field{"apiVersion", u.apiVersion}, field{"kind", u.kind}, field{"where", document.NewText(at, where)})
}

func (u unlisted) pruned(i int) *document.Node {
	at := u.expansion.policy.Pos
	return mapping(at, field{"name", document.NewText(at, fmt.Sprintf("children of %s %s that the policy no longer has", u.apiVersion.Text, u.kind.Text))},
		field{"forEach", document.NewText(at, "inputs."+u.name(i))}, field{"as", document.NewText(at, "child")},
		field{"do", document.NewList(at, deletion(at, "child"))}, field{"continueOnError", truth(at)})
}
