package plan

import (
	"cmp"
	"strings"
)

// shadowSuffix ends the string form of the ID of a policy in Shadow mode.
const shadowSuffix = "@shadow"

// ID tells the policies apart that may run beside each other: of one name, one
// that is enforced, and another revision in Shadow mode.
type ID struct {
	Name   string
	Shadow bool
}

// String returns the name, and @shadow after it for Shadow mode. Names of policies
// have no @, so that different IDs have different string forms.
func (id ID) String() string {
	if id.Shadow {
		return id.Name + shadowSuffix
	}
	return id.Name
}

// ParseID parses what String returned.
func ParseID(text string) ID {
	name, shadow := strings.CutSuffix(text, shadowSuffix)
	return ID{Name: name, Shadow: shadow}
}

// ID returns the string form of the policy's ID.
func (p *Policy) ID() string { return ID{Name: p.Name, Shadow: p.Mode == Shadow}.String() }

// Written is the name in the document: of a policy for one of several kinds that is not
// its own.
func (p *Policy) Written() string { return cmp.Or(p.Of, p.Name) }

// Named reports whether a name is that of the policy, or of its document.
func (p *Policy) Named(name string) bool { return name == p.Name || name == p.Written() }
