package children

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// set is one child of a policy.
type set struct {
	expansion *expansion
	doc       *v1alpha1.Child
	name      string
	// after are the children that come before, dependents those that come after.
	after, dependents []*set
}

// The names of the variables that are derived.
const (
	// releasedName says that the primary object has no children any more: it is gone,
	// is being deleted or has left the selector.
	releasedName = "released"
	wantedPrefix = "wanted_"
	readyPrefix  = "ready_"
	failedPrefix = "failed_"
)

// released returns the variable of that name. If the finalizer has a condition, a deletion
// releases the children only when it has held once.
func (e *expansion) released() *document.Node {
	at, deleted := e.policy.Pos, "has(object.metadata.deletionTimestamp)"
	if until := e.policy.Spec.Finalizer.Until; until.Set() {
		at, deleted = until.Pos(), deleted+" && "+e.untilHeld()
	}
	return mapping(at, field{"name", document.NewText(at, releasedName)}, field{"expression", document.NewText(at, "object == null || leaving || "+deleted)})
}

// inputPrefix begins the name of an input that finds the objects of a set.
const inputPrefix = "children."

// input is the map of the objects that exist.
func (s *set) input() *document.Node {
	at, manifest := s.doc.Pos, s.doc.Apply.Node
	return mapping(at, field{"name", document.NewText(at, inputPrefix+s.name)},
		field{"apiVersion", manifest.Get("apiVersion")}, field{"kind", manifest.Get("kind")},
		field{"where", document.NewText(at, s.expansion.mine()+fmt.Sprintf(" && %s == %q", label(ChildLabel), s.name))},
		field{"keyBy", document.NewText(at, s.itemKey())})
}

// itemKey is the key of an item in children.NAME.
func (s *set) itemKey() string {
	if s.elsewhere() {
		return `item.metadata.namespace + "/" + item.metadata.name`
	}
	return "item.metadata.name"
}

// elsewhere reports whether the objects may be in several namespaces: names alone
// do not tell them apart.
func (s *set) elsewhere() bool { return s.doc.Apply.Node.Get("metadata").Get("namespace") != nil }

// item are the fields of a list of what is wanted: one item for a single object.
func (s *set) item() (forEach, as *document.Node) {
	at := s.doc.Pos
	if s.doc.ForEach.Set() {
		return s.doc.ForEach.Node, s.doc.As.Node
	}
	return document.NewText(at, "[0]"), document.NewText(at, "__single")
}

// wanted is a variable with the keys of the objects that are wanted.
func (s *set) wanted() *document.Node {
	at := s.doc.Pos
	forEach, as := s.item()
	return mapping(at, field{"name", document.NewText(at, wantedPrefix+s.name)}, field{"forEach", forEach}, field{"as", as},
		field{"variables", s.section("variables")}, field{"when", s.doc.When.Node}, field{"value", s.key()})
}

// key is a template for the key of an object in children.NAME.
func (s *set) key() *document.Node {
	metadata := s.doc.Apply.Node.Get("metadata")
	if !s.elsewhere() {
		return metadata.Get("name")
	}
	namespace := metadata.Get("namespace")
	return document.Joined(namespace, document.NewText(namespace.Pos, "/"), metadata.Get("name"))
}

// failed is a variable with the keys of the objects whose template has failed or whose last
// write was refused.
func (s *set) failed() *document.Node {
	at := s.doc.Pos
	return mapping(at, field{"name", document.NewText(at, failedPrefix+s.name)}, field{"expression", document.NewText(at, fmt.Sprintf("__failures[?%q].orValue({}).map(n, n)", s.name))})
}

// ready is a variable with the keys of the objects that are ready.
func (s *set) ready() *document.Node {
	at := s.doc.Pos
	locals := document.NewList(at, mapping(at, field{"name", document.NewText(at, "item")}, field{"expression", document.NewText(at, "children."+s.name+"[child]")}))
	when := fmt.Sprintf("!has(item.metadata.deletionTimestamp) && !(child in variables.%s%s)", failedPrefix, s.name)
	if s.doc.Ready.Set() {
		locals.Values = append(locals.Values, mapping(at, field{"name", document.NewText(at, "ready")}, field{"expression", s.doc.Ready.Node}))
		when += " && ready"
	}
	return mapping(at, field{"name", document.NewText(at, readyPrefix+s.name)}, field{"forEach", document.NewText(at, "children."+s.name+".map(child, child)")},
		field{"as", document.NewText(at, "child")}, field{"variables", locals}, field{"when", document.NewText(at, when)}, field{"value", document.NewText(at, "${child}")})
}

// complete is a condition: all that is wanted is ready.
func (s *set) complete() string {
	return fmt.Sprintf("variables.%s%s.all(n, n in variables.%s%s)", wantedPrefix, s.name, readyPrefix, s.name)
}

// applied is the rule that keeps what is wanted.
func (s *set) applied() *document.Node {
	at := s.doc.Pos
	action := mapping(at, field{"apply", s.manifest()}, field{"once", s.section("once")}, field{"ifExists", s.doc.IfExists.Node})
	when := []string{"!variables." + releasedName}
	for _, other := range s.after {
		when = append(when, other.complete())
	}
	out := mapping(at, field{"name", document.NewText(at, "child "+s.name)}, field{"when", document.NewText(at, strings.Join(when, " && "))},
		field{"variables", s.section("variables")}, field{"onError", s.section("onError")}, field{"continueOnError", truth(at)})
	do := document.NewList(at, action)
	if s.doc.When.Set() {
		row := mapping(at, field{"name", document.NewText(at, "wanted")}, field{"when", s.doc.When.Node}, field{"do", do})
		out = with(out, at, field{"cases", document.NewList(at, row)})
	} else {
		out = with(out, at, field{"do", do})
	}
	if s.doc.ForEach.Set() {
		out = with(out, at, field{"forEach", s.doc.ForEach.Node}, field{"as", s.doc.As.Node})
	}
	return out
}

// pruned is the rule that deletes or leaves behind what is no longer wanted, once nothing is
// left of what comes after it.
func (s *set) pruned() *document.Node {
	at, when, child := s.doc.Pos, s.ended(), "children."+s.name+"[child]"
	if s.doc.CreateBeforeDelete {
		when = append(when, "(variables."+releasedName+" || "+s.complete()+")")
	}
	stays := "false"
	switch whenUnwanted := s.doc.WhenUnwanted.Value == orphanChildren; {
	case s.orphan() && whenUnwanted:
		stays = "true"
	case s.orphan():
		stays = "variables." + releasedName
	case whenUnwanted:
		stays = "!variables." + releasedName
	}
	out := removal(at, "child "+s.name+" no longer wanted", fmt.Sprintf("children.%s.filter(n, %s)", s.name, s.unwanted()), stays, s.expansion.unmark(at, child),
		mapping(at, field{"delete", mapping(at, field{"of", document.NewText(at, child)}, field{"propagation", s.doc.Propagation.Node})}))
	if len(when) > 0 {
		out = with(out, at, field{"when", document.NewText(at, strings.Join(when, " && "))})
	}
	return out
}

// removal is a rule that does one thing with the items of a list that stay, and another with
// the others.
func removal(at document.Position, name, of, stays string, leave, remove *document.Node) *document.Node {
	out := mapping(at, field{"name", document.NewText(at, name)}, field{"forEach", document.NewText(at, of)}, field{"as", document.NewText(at, "child")}, field{"continueOnError", truth(at)})
	if stays == "false" {
		return with(out, at, field{"do", document.NewList(at, remove)})
	}
	return with(out, at, field{"cases", document.NewList(at,
		mapping(at, field{"name", document.NewText(at, "left behind")}, field{"when", document.NewText(at, stays)}, field{"do", document.NewList(at, leave)}),
		mapping(at, field{"name", document.NewText(at, "deleted")}, field{"do", document.NewList(at, remove)}))})
}

// ended are the conditions under which nothing unwanted is left of what comes after the
// set. What stays when the primary object is deleted is not waited for then.
func (s *set) ended() (when []string) {
	for _, other := range s.later(nil) {
		none := fmt.Sprintf("!children.%s.exists(n, %s)", other.name, other.unwanted())
		if other.orphan() {
			none = fmt.Sprintf("(variables.%s || !children.%s.exists(n, !(n in variables.%s%s)))", releasedName, other.name, wantedPrefix, other.name)
		}
		when = append(when, none)
	}
	return when
}

// later adds the sets that come after this one, and those that come after what stays when
// the primary object is deleted: that does not hold up the deletion for them.
func (s *set) later(found []*set) []*set {
	for _, other := range s.dependents {
		if slices.Contains(found, other) {
			continue
		}
		if found = append(found, other); other.orphan() {
			found = other.later(found)
		}
	}
	return found
}

// unwanted is a condition on the key n of an object.
func (s *set) unwanted() string {
	return fmt.Sprintf("variables.%s || !(n in variables.%s%s)", releasedName, wantedPrefix, s.name)
}

// unmark is an action that removes the marks of a child from an object: nothing deletes it
// any more.
func (e *expansion) unmark(at document.Position, of string) *document.Node {
	none := &document.Node{Kind: document.Null, Text: "null", Pos: at}
	labels := []field{{PolicyLabel, none}, {ChildLabel, none}}
	if e.policy.Set != "" {
		labels = append(labels, field{PolicySetLabel, none})
	}
	return mapping(at, field{"patch", mapping(at, field{"of", document.NewText(at, of)}, field{"value", mapping(at, field{"metadata", mapping(at,
		field{"labels", mapping(at, labels...)},
		field{"annotations", mapping(at, field{PrimaryName, none}, field{PrimaryNamespace, none}, field{WhenUnwanted, none})},
	)})})})
}

// section returns a field of the child as it was written.
func (s *set) section(name string) *document.Node {
	for i, k := range s.expansion.policy.Node.Get("spec").Get("children").Items() {
		if &s.expansion.policy.Spec.Children[i] == s.doc {
			return k.Get(name)
		}
	}
	return nil
}
