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
	// sets are the sets of the kind.
	sets []*set
}

// unlisted returns one for each kind of the children.
func (e *expansion) unlisted(sets []*set) (out []unlisted) {
	at := map[string]int{}
	for _, s := range sets {
		apiVersion, kind := s.doc.Apply.Node.Get("apiVersion"), s.doc.Apply.Node.Get("kind")
		i, seen := at[apiVersion.Text+" "+kind.Text]
		if !seen {
			i = len(out)
			at[apiVersion.Text+" "+kind.Text] = i
			out = append(out, unlisted{expansion: e, apiVersion: apiVersion, kind: kind})
		}
		out[i].sets = append(out[i].sets, s)
	}
	return out
}

// unlistedPrefix begins the name of an input that finds children of sets that the policy
// no longer has; a number ends it.
const unlistedPrefix = "unlisted_"

func (u unlisted) name(i int) string { return fmt.Sprintf("%s%d", unlistedPrefix, i+1) }

func (u unlisted) input(i int) *document.Node {
	at := u.expansion.policy.Pos
	known := []string{`""`}
	for _, s := range u.sets {
		known = append(known, fmt.Sprintf("%q", s.name))
	}
	where := fmt.Sprintf("%s && !(%s in [%s])", u.expansion.mine(), label(ChildLabel), strings.Join(known, ", "))
	return mapping(at, field{"name", document.NewText(at, u.name(i))}, field{"apiVersion", u.apiVersion}, field{"kind", u.kind}, field{"where", document.NewText(at, where)})
}

// pruned is the rule about the objects: they are deleted, except for those that a set of another
// name wants and those that are to stay when nothing wants them. Without a primary object they
// are left behind: what the former text says about that is not known.
func (u unlisted) pruned(i int) *document.Node {
	var wanted []string
	for _, s := range u.sets {
		wanted = append(wanted, fmt.Sprintf("%s in variables.%s%s", s.itemKey(), wantedPrefix, s.name))
	}
	at, item := u.expansion.policy.Pos, document.NewText(u.expansion.policy.Pos, "child")
	return removal(at, fmt.Sprintf("children of %s %s that the policy no longer has", u.apiVersion.Text, u.kind.Text),
		fmt.Sprintf("inputs.%s.filter(item, variables.%s || !(%s))", u.name(i), releasedName, strings.Join(wanted, " || ")),
		fmt.Sprintf("object == null || child.metadata.?annotations[?%q].orValue(\"\") == %q", WhenUnwanted, orphanChildren),
		u.expansion.unmark(at, item.Text), mapping(at, field{"delete", mapping(at, field{"of", item})}))
}
