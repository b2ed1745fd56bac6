package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/week"
	"github.com/edict-dev/edict/engine/world"
)

// Policy is a compiled policy.
type Policy struct {
	Name string
	// Of is the name in the document if that is for several kinds: this is the policy for
	// one of them.
	Of string
	// Revision is a hash of the policy's text and parameters.
	Revision string
	Mode     Mode
	Primary  Primary
	// Graph is what every part of the policy depends on. Of two revisions, parts
	// with the same hash decide the same.
	Graph *analyze.Node
	// Params are the values in force, by name.
	Params map[string]value.Value
	// ParamInfo describes them, in the order of the document.
	ParamInfo []ParamInfo
	// Slots resolves the names that expressions use: "object",
	// "inputs.nodes", "variables.ready" and so on.
	Slots     Slots
	Inputs    []*Input
	Variables []*Variable
	Rules     []*Rule
	// ObjectReads is what is read of the primary.
	ObjectReads *value.Mask
	// Targets are the kinds that actions name outright; their objects are
	// watched so that a write is a diff.
	Targets []*Target
	// Writes are the kinds and subresources that the policy writes.
	Writes []analyze.Write
	// WrittenTypes are those of the kinds: of some fields they say that the API server stores
	// them in a form of its own.
	WrittenTypes map[schema.GVK]*schema.Type
	// FinalizerUses are the finalizers that it leaves on objects.
	FinalizerUses []analyze.FinalizerUse
	// Limits bound how much it writes.
	Limits Limits
	// Metrics are what the policy exports.
	Metrics []Metric
	// Queries are the builtins that selections ask, sorted.
	Queries []string
	// Stateful says that decisions depend on more than objects and the time: on
	// what was remembered, or on what is debounced.
	Stateful bool
	// HasSelections says that a rule chooses among candidates.
	HasSelections bool
	// Source is where the policy was written.
	Source document.Position
	// Origin says which text it is.
	Origin Origin
}

// Origin is where the text of a policy comes from in a cluster.
type Origin struct {
	// ConfigMap is the name of the ConfigMap that it stands in; "" is a file.
	ConfigMap string
	// Text is the digest of its text with the Rego beside it, as sha256:...
	Text string
}

// Mode says what becomes of a policy's decisions.
type Mode string

// The modes.
const (
	// Enforce writes what is decided.
	Enforce Mode = v1alpha1.ModeEnforce
	// Shadow decides and notes, and writes nothing.
	Shadow Mode = v1alpha1.ModeShadow
	// Disabled is compiled and not run.
	Disabled Mode = v1alpha1.ModeDisabled
)

// Primary is the kind a policy decides about.
type Primary struct {
	schema.GVK
	Type       *schema.Type
	Selector   *selector.Selector
	Namespaces []string
	// Within is the namespace, if Namespaces is only one.
	Within analyze.ParamValue
	// Node has what says which primary objects there are.
	Node *analyze.Node
	// Optional says that keys without a primary object are decided about, too;
	// PruneOnly that of such keys only the children are: by the rules that delete them.
	Optional  bool
	PruneOnly bool
	Source    world.Source
	// Follows makes the policy decide about objects that no longer match
	// Selector, too; Finalizers are those that it leaves on them.
	Follows    bool
	Finalizers []string
}

// Selects reports whether an object is one that the policy decides about.
func (p *Primary) Selects(o *world.Object) bool {
	if !p.Selector.Matches(value.Path(o.Value, "metadata", "labels")) {
		return false
	}
	if len(p.Namespaces) == 0 {
		return true
	}
	return slices.Contains(p.Namespaces, o.Namespace)
}

// Left reports whether an object that the policy no longer selects is still
// decided about: it carries one of the policy's finalizers.
func (p *Primary) Left(o *world.Object) bool {
	if !p.Follows || p.Selects(o) || len(p.Namespaces) > 0 && !slices.Contains(p.Namespaces, o.Namespace) {
		return false
	}
	list, ok := value.Path(o.Value, "metadata", "finalizers").(*value.List)
	return ok && slices.ContainsFunc(value.Strings(list), func(f string) bool { return slices.Contains(p.Finalizers, f) })
}

// SlotKind says what a name stands for.
type SlotKind int

// The kinds of names.
const (
	Object SlotKind = iota
	KeyName
	KeyNamespace
	Param
	InputSlot
	VariableSlot
	Now
	Initial
	Leaving
	CallSlot
)

// Slot is what a name of the policy stands for.
type Slot struct {
	Kind  SlotKind
	Index int
	Value value.Value // of a Param
}

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

// Variable is a named value.
type Variable struct {
	Name string
	Pos  document.Position
	// Program is an expression. Otherwise When and Value, or Collection.
	Program    *cel.Program
	When       *cel.Program
	Value      *cel.Template
	Collection *Collection
	// Rego is asked with Value as its input.
	Rego *Rego
	// Node has what the variable depends on, ObjectMask what of the primary object
	// its own expressions read.
	Node       *analyze.Node
	ObjectMask *value.Mask
	// Shared says that a Program or Value uses nothing but params, inputs and other shared
	// variables, so that it gives the same for all keys that find the same in those.
	Shared bool
}

// Rego is a question to a Rego module.
type Rego struct {
	Query  *rego.Query
	Result rego.Result
}

// Collection computes one value per item of a list.
type Collection struct {
	ForEach *cel.Program
	As      string
	Locals  []*Variable
	When    *cel.Program
	// Value is the item's value; nil means the item itself.
	Value   *cel.Template
	Shape   Shape
	Key     *cel.Program
	OrderBy []*cel.Program
	Unique  bool
	// ObjectMask is what the computation of one item reads of the primary object.
	ObjectMask *value.Mask
	// Shared says that this is nothing but the item and params, so that the
	// collection is the same for all keys that have the same list.
	Shared bool
}

// Rule is one step of the decision.
type Rule struct {
	Name string
	Pos  document.Position
	When *cel.Program
	// WhenPerItem says that When names the item and is judged for each.
	WhenPerItem bool
	ForEach     *cel.Program
	As          string
	Locals      []*Variable
	Do          []Action
	Cases       []Case
	OnError     []Action
	// OnErrorPerItem says that OnError uses the item: where the list has failed, there is
	// none, and OnError does not run.
	OnErrorPerItem  bool
	ContinueOnError bool
	// Finally makes the rule run, and its effects be written, also after a rule
	// that failed.
	Finally bool
	Stop    bool
	// Child is the set whose children the rule makes or deletes; "" is no such rule. A
	// write of one that is refused for what it says is a failure of its item, which stops
	// no other rule.
	Child string
	// Prunes says that the rule deletes children: it is for keys without a primary
	// object, too.
	Prunes bool
	// Former says that these are children which the policy no longer has: no text of
	// the policy stands for the rule.
	Former bool
	// Debounce delays the rule; nil runs it at once.
	Debounce *Debounce
	// Leaving says that the condition or list uses the name leaving: the rule is
	// for objects that no longer match the policy's selector, too.
	Leaving bool
	// Node has what the whole rule depends on, Gate what decides whether its
	// actions are reached.
	Node, Gate *analyze.Node
}

// Debounce lets a rule run once per window and key. The wish to run it, once
// `when` has held, lives until it has succeeded.
type Debounce struct {
	Key, Window *cel.Template
	// MaxInFlight bounds how many keys of the policy run it at once; 0 does not.
	MaxInFlight int64
	// Allowed are the times of the week in which it may run; none means always.
	Allowed []Window
}

// Window is a time of the week in a time zone.
type Window struct {
	Week     week.Window
	Location *time.Location
}

// Case is a row of a decision table.
type Case struct {
	Name string
	Pos  document.Position
	When *cel.Program
	Do   []Action
}

// Target is a kind that an action names outright.
type Target struct {
	Source world.Source
	// Narrow is what Source is narrowed to.
	Narrow analyze.Scope
	Reads  *value.Mask
}

// AppliedPrefix begins the annotation in which a policy keeps a digest of what
// it has applied to an object; the policy's name follows.
const AppliedPrefix = "applied.edict.dev/"
