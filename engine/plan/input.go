package plan

import (
	"cmp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Shape is how an input or a collection gives its values.
type Shape int

// The shapes.
const (
	// List is a list.
	List Shape = iota
	// Keyed is a map with one value per key.
	Keyed
	// Grouped is a map with a list of values per key.
	Grouped
	// One is a single object or null.
	One
)

// Input is another object, or a list of them, that rules may read.
type Input struct {
	Name string
	// Of is the input of several kinds that this is a part of; "" for any other.
	Of     string
	Pos    document.Position
	Source world.Source
	// Narrow is what Source is narrowed to.
	Narrow analyze.Scope
	// Named is the object that Get gives, if it is the same for every key.
	Named analyze.Scope
	Type  *schema.Type
	Shape Shape
	// Own restricts a list to the namespace of the key.
	Own bool
	// Kept restricts a list to objects that the policy itself has written.
	Kept bool
	// Off says that the input's `when` is false: it is empty and unwatched.
	Off bool
	// Get returns the name of the object of an input of shape One.
	Get *cel.Program
	// Where judges an item; nil means that all are members.
	Where *cel.Program
	// Key returns an item's key, for Keyed and Grouped.
	Key     *cel.Program
	OrderBy []*cel.Program
	// Shared says that Key and OrderBy use nothing but the item and params, so that the
	// value is the same for all keys that have the same members.
	Shared bool
	// Join answers Where by an index of the given name.
	Join  analyze.Join
	Index string
	// Naming says which keys an item names, for a policy whose primaries are
	// optional; nil when it names none.
	Naming *KeyNaming
	// Reads is what the policy reads of the items, Content what of it is not
	// only read by Where: a change of anything else matters only if it changes
	// who is a member.
	Reads, Content *value.Mask
	// Node has what the input depends on, ObjectMask what of the primary object
	// decides about membership.
	Node       *analyze.Node
	ObjectMask *value.Mask
}

// KeyNaming says which keys an item of an input names: those that are decided
// about although there is no primary.
type KeyNaming struct {
	// Join computes the keys from the item; nil means that an input of shape One
	// names its own name.
	Join *analyze.Naming
	// Within is the namespace of the keys where the item names none; Cluster says
	// that the primaries have no namespaces, whatever the item names.
	Within  string
	Cluster bool
	// Own makes the item's own namespace that of the key.
	Own bool
}

// Written returns the name that the author gave the input.
func (in *Input) Written() string { return cmp.Or(in.Of, in.Name) }

// Scope returns where the objects of an input are.
func (in *Input) Scope() analyze.Scope {
	at := in.Named
	at.Input = in.Name
	if in.Narrow.Namespace.Value != "" {
		at.Namespace = in.Narrow.Namespace
	}
	return at
}

// Near reports whether an object may be in the list of a key of a namespace. Which
// kinds have namespaces may be unknown, so where one has none all match.
func (in *Input) Near(namespace string, o *world.Object) bool {
	return !in.Own || o.Namespace == namespace || o.Namespace == "" || namespace == ""
}
