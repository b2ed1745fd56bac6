package plan

import (
	"cmp"

	"github.com/edict-dev/edict/engine/identity"
)

// ID returns SET/POLICY, which identifies the policy in a cluster; of a policy that is in no set
// it returns the name.
func (p *Policy) ID() string { return identity.PolicyID(p.Set, p.Name) }

// Owner returns the ID in the marks on objects. A policy in Shadow mode has the marks of the one
// that it is compared with.
func (p *Policy) Owner() string { return identity.PolicyID(cmp.Or(p.ShadowOf, p.Set), p.Name) }

// Written is the name in the document: of a policy for one of several kinds that is not
// its own.
func (p *Policy) Written() string { return cmp.Or(p.Of, p.Name) }

// Named reports whether a name is that of the policy, or of its document.
func (p *Policy) Named(name string) bool {
	return name == p.Name || name == p.Written() || name == p.ID()
}
