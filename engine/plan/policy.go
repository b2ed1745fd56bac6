package plan

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Policy is a compiled policy.
type Policy struct {
	// Set is the PolicySet of the policy; empty if it is in none.
	Set  string
	Name string
	// ShadowOf is the set with the policy that this one is compared with, in Shadow mode; empty if
	// there is none.
	ShadowOf string
	// Account is the ServiceAccount that the policy writes as, in the namespace of its set; empty is
	// the default.
	Account string
	// Of is the name in the document if that is for several kinds: this is the policy for
	// one of them.
	Of string
	// Revision is a hash of the policy's text and parameters.
	Revision string
	// Kept is an estimate of the bytes that the compiled expressions hold.
	Kept    int
	Mode    Mode
	Primary Primary
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
	// Kinds has the schema and the naming rule of each kind in Writes.
	Kinds map[schema.GVK]Kind
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
	// MarkKeys are the annotations that the policy keeps on objects.
	MarkKeys []string
}

// Kind is what is known of a kind that a policy writes.
type Kind struct {
	// Type says of some fields that the API server stores them in a form of its own.
	Type *schema.Type
	// Naming says which names objects may have.
	Naming schema.Naming
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
	return len(p.Namespaces) == 0 || slices.Contains(p.Namespaces, o.Namespace)
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

// Target is a kind that an action names outright.
type Target struct {
	Source world.Source
	// Narrow is what Source is narrowed to.
	Narrow analyze.Scope
	Reads  *value.Mask
}

// ServerMetadata are the fields of the metadata that only the API server sets.
var ServerMetadata = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}
