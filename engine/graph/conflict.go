package graph

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Conflict is a field that two policies write of one object.
type Conflict struct {
	First, Second Write
	// Field is the path of the field.
	Field string
}

// Conflicts returns the conflicts of policies, if their texts show them.
func Conflicts(policies []*plan.Policy) (out []Conflict) {
	var writes []Write
	for _, p := range policies {
		writes = append(writes, Writes(p)...)
	}
	for i, w := range writes {
		for _, first := range writes[:i] {
			if field := shared(first, w); field != "" {
				out = append(out, Conflict{first, w, field})
			}
		}
	}
	return out
}

// String names both rules.
func (c Conflict) String() string {
	does := "writes " + c.Field + " of " + c.Second.Kind
	x, _ := c.First.Action.(*plan.Child)
	y, _ := c.Second.Action.(*plan.Child)
	if x != nil && y != nil && x.Kept && y.Kept {
		does = "keeps a " + c.Second.Kind + " as a child"
	}
	return fmt.Sprintf("the rule %q of %s %s, and so does the rule %q of %s", c.Second.Rule.Name, c.Second.Policy.ID(), does, c.First.Rule.Name, c.First.Policy.ID())
}

// shared returns the field that two policies write of one object; "" when they write
// none, or when that is not known.
func shared(a, b Write) string {
	if a.Policy == b.Policy || a.GVK != b.GVK || a.Subresource != b.Subresource || !meet(a, b) || Exclusive(a, b) {
		return ""
	}
	if !sameEntry(a.Action, b.Action) {
		return ""
	}
	for _, x := range a.Fields {
		for _, y := range b.Fields {
			if field := narrower(x, y); field != "" && Definite(x) && Definite(y) && !Same(a, b, field) {
				return field
			}
		}
	}
	return ""
}

// narrower returns the field that is the other one or below it; "" when neither is.
func narrower(x, y string) string {
	switch {
	case x == y || strings.HasPrefix(x, y+"."):
		return x
	case strings.HasPrefix(y, x+"."):
		return y
	}
	return ""
}

// meet reports whether two writes are known to be of one object: both are of the
// primary object, of policies that may decide about the same one, or are named after it
// alike; or both name it.
func meet(a, b Write) bool {
	if a.Own && b.Own || a.Policy.Primary.GVK == b.Policy.Primary.GVK && a.Naming == b.Naming && a.Naming.Depends() {
		return !Disjoint(a.Policy, b.Policy)
	}
	if a.Named == nil || b.Named == nil {
		return false
	}
	return a.Named.Name.Value != "" && a.Named.Name == b.Named.Name && a.Named.Namespace == b.Named.Namespace
}

// sameEntry reports whether two actions write the same condition, or entry of a list, as
// far as they say which.
func sameEntry(a, b plan.Action) bool {
	if x, ok := a.(*plan.Condition); ok {
		y, also := b.(*plan.Condition)
		return also && known(x.Type.Constant(), y.Type.Constant())
	}
	if x, ok := a.(*plan.ListEntry); ok {
		y, also := b.(*plan.ListEntry)
		return also && known(x.By.Constant(), y.By.Constant())
	}
	_, condition := b.(*plan.Condition)
	_, entry := b.(*plan.ListEntry)
	return !condition && !entry
}

func known(a, b value.Value) bool { return a != nil && b != nil && value.Same(a, b) }
