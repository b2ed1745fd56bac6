package v1alpha1

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/identity"
)

// Policy decides what becomes of each object of one kind, or of each of several kinds.
type Policy struct {
	// APIVersion is edict.dev/v1alpha1.
	APIVersion Text `yaml:"apiVersion" schema:"required,enum=edict.dev/v1alpha1"`
	// Kind is Policy.
	Kind Text `yaml:"kind" schema:"required,enum=Policy"`
	// Metadata names the policy.
	Metadata Metadata `yaml:"metadata" schema:"required,with=name"`
	// Spec is what the policy decides.
	Spec Spec `yaml:"spec" schema:"required"`
	// Of is the name in the document if that is for several kinds: this is the policy for
	// one of them.
	Of string `yaml:"-"`
	// Set is the PolicySet in the marks that the policy leaves on objects; empty if it is in none.
	Set string `yaml:"-"`
	// Node is the whole document as it was written; of a policy for one of several kinds
	// it has the name of the policy and that kind.
	Node *document.Node
	Pos  document.Position
}

// ID returns SET/POLICY, or the name of a policy that is in no set.
func (p *Policy) ID() string { return identity.PolicyID(p.Set, p.Metadata.Name.Value) }

// The modes of a policy.
const (
	ModeEnforce  = "Enforce"
	ModeShadow   = "Shadow"
	ModeDisabled = "Disabled"
)

// Metadata names the document.
type Metadata struct {
	// Name has lower-case letters, digits and dashes, at most 63.
	Name Text `yaml:"name"`
	// Labels are for people; Edict does not read them.
	Labels []Entry[Text] `yaml:"labels"`
	// Annotations are for people; Edict does not read them.
	Annotations []Entry[Text] `yaml:"annotations"`
}

// Spec is the body of a policy.
type Spec struct {
	// Mode is Enforce (default), Shadow or Disabled.
	Mode Text `yaml:"mode" schema:"enum=Enforce|Shadow|Disabled"`
	// For is the kind, or the kinds, that the policy decides about: one evaluation per object.
	For Primary `yaml:"for" schema:"required"`
	// Params are values that an installation may set.
	Params []Entry[Param] `yaml:"params"`
	// Inputs are other objects that variables and rules read, as inputs.NAME.
	Inputs []Input `yaml:"inputs"`
	// Variables are named values, as variables.NAME, in any order.
	Variables []Variable `yaml:"variables"`
	// Children are objects that the policy keeps for each primary object, as
	// children.NAME. They are evaluated before the rules.
	Children []Child `yaml:"children"`
	// Summary keeps a condition of the primary object about its children.
	Summary *Summary `yaml:"summary"`
	// Finalizer holds the primary object until its children are gone: its name, or a mapping.
	Finalizer Finalizer `yaml:"finalizer"`
	// Rules are evaluated in their order.
	Rules []Rule `yaml:"rules"`
	// Limits bound how much the policy writes.
	Limits Limits `yaml:"limits"`
	// Metrics are exported under names of the policy's own.
	Metrics []Metric `yaml:"metrics"`
}

// Summary keeps a condition of the primary object. It is True if each wanted child exists, was
// accepted as it is written and is ready.
type Summary struct {
	// Condition is the type of the condition; default Ready.
	Condition Text `yaml:"condition"`
	// Kstatus also keeps Reconciling, which is True while children are waited for, and Stalled,
	// which is True while one has failed.
	Kstatus bool `yaml:"kstatus"`
	Pos     document.Position
}

// Finalizer holds the primary object until its children are gone.
type Finalizer struct {
	// Name is the name of the finalizer, such as example.com/children. It may use params.
	Name Text `yaml:"name" schema:"required"`
	// Until is a condition for which a deletion waits: until then the children are kept as
	// written. Without it they are deleted at once.
	Until Text `yaml:"until"`
	Pos   document.Position
}

// Limits bound how much a policy writes: all writes, and those that take
// something away.
type Limits struct {
	// Changes bounds all writes.
	Changes *Limit `yaml:"changes"`
	// Removals bounds the writes that take something away.
	Removals *Limit `yaml:"removals"`
}

// Limit bounds what may happen within a window of time. Its templates read
// params only.
type Limit struct {
	// PerWindow is a number, with PerCentOf a percentage.
	PerWindow Template `yaml:"perWindow" schema:"required"`
	// Window is a duration; default 1m.
	Window Template `yaml:"window"`
	// PerCentOf is "objects", which are those that the policy decides about, or
	// inputs.NAME.
	PerCentOf Text `yaml:"perCentOf"`
	// AtLeast is the lowest that a percentage comes to; default 10.
	AtLeast Template `yaml:"atLeast"`
	Pos     document.Position
}

// Primary is the kind a policy decides about: one evaluation per object.
type Primary struct {
	// APIVersion is that of the kind, such as apps/v1.
	APIVersion Text `yaml:"apiVersion" schema:"or=kinds"`
	// Kind is the kind of the primary objects.
	Kind Text `yaml:"kind" schema:"or=kinds"`
	// Kinds, instead of apiVersion and kind, are several kinds: the document is one policy
	// for each of them, which is named NAME-KIND with the kind in lower case.
	Kinds []ObjectKind `yaml:"kinds"`
	// Selector narrows the objects by label: a labelSelector or a string.
	Selector Template `yaml:"selector"`
	// Namespaces narrows the objects of a namespaced kind.
	Namespaces Template `yaml:"namespaces"`
	// Optional also evaluates keys that only inputs name, with object null.
	Optional bool `yaml:"optional"`
}

// Param is a tunable value of the policy.
type Param struct {
	// Type is string, int, double, bool, duration, list, map or selector;
	// taken from the default when absent.
	Type Text `yaml:"type" schema:"enum=string|int|double|bool|duration|list|map|selector"`
	// Default is the value without an override.
	Default *document.Node `yaml:"default" schema:"required"`
	// Required lets the policy wait in a cluster until a value is given; other tools use the
	// default.
	Required bool `yaml:"required"`
	// Minimum is the least value that is allowed.
	Minimum *document.Node `yaml:"minimum"`
	// Maximum is the greatest value that is allowed.
	Maximum *document.Node `yaml:"maximum"`
	// MinLength is the least length of a text, a list or a map.
	MinLength *document.Node `yaml:"minLength"`
	// Enum lists the values that are allowed.
	Enum *document.Node `yaml:"enum"`
	// Items bounds the items of a list.
	Items ParamItems `yaml:"items"`
	// Description is for the people who set the param.
	Description Text `yaml:"description"`
}

// ParamItems bounds the items of a list parameter.
type ParamItems struct {
	// Enum lists the items that are allowed.
	Enum *document.Node `yaml:"enum"`
}

// Input is another object, or a list of them, that the rules may read.
type Input struct {
	// Name is that of the input in expressions: inputs.NAME.
	Name Text `yaml:"name" schema:"required"`
	// APIVersion is that of the kind, such as apps/v1.
	APIVersion Text `yaml:"apiVersion" schema:"or=kinds"`
	// Kind is the kind of the objects.
	Kind Text `yaml:"kind" schema:"or=kinds"`
	// Kinds, instead of apiVersion and kind, are several kinds whose objects are in one
	// list.
	Kinds []ObjectKind `yaml:"kinds"`
	// When, over params, switches the input off with its watch.
	When Text `yaml:"when"`
	// Get returns the name, or {namespace, name}, of one object.
	Get Text `yaml:"get"`
	// Selector and Namespace narrow a list; they read params only.
	Selector Template `yaml:"selector"`
	// Namespace restricts a list to one namespace; it reads params only.
	Namespace Text `yaml:"namespace"`
	// Within is cluster for a list of objects of all namespaces. The default is
	// namespace: those in the namespace of the primary object.
	Within Text `yaml:"within" schema:"enum=namespace|cluster"`
	// Where is a join over item, object, key, params and variables.
	Where Text `yaml:"where"`
	// KeyBy makes the input a map with one item per key; the expression returns the key of item.
	KeyBy Text `yaml:"keyBy"`
	// GroupBy makes the input a map with a list of items per key; the expression returns the key of item.
	GroupBy Text `yaml:"groupBy"`
	// OrderBy are expressions over item that items are sorted by.
	OrderBy []Text `yaml:"orderBy"`
	// Owned says that the input was derived from children: it has what the policy
	// keeps for the primary object.
	Owned bool `yaml:"-"`
	// Of is the input that this is a part of: it has the objects of one of the Kinds.
	Of  string `yaml:"-"`
	Pos document.Position
}

// ObjectKind is a kind of objects.
type ObjectKind struct {
	// APIVersion is that of the kind, such as apps/v1.
	APIVersion Text `yaml:"apiVersion" schema:"required"`
	// Kind is the kind of the objects.
	Kind Text `yaml:"kind" schema:"required"`
	Pos  document.Position
}

// Variable is a named value: an expression, a template, a collection or a
// Rego query.
type Variable struct {
	// Name is that of the variable in expressions: variables.NAME, or NAME in a rule or a collection.
	Name Text `yaml:"name" schema:"required"`
	// Expression is a CEL expression.
	Expression Text `yaml:"expression"`
	// When with Value: the template's value where When holds, else absent.
	When Text `yaml:"when"`
	// Value is a template.
	Value Template `yaml:"value"`
	// ForEach makes the variable a collection: one value per item.
	ForEach Text `yaml:"forEach"`
	// As is the name of an item in expressions; default item.
	As Text `yaml:"as"`
	// Variables are computed for each item, in their order.
	Variables []Variable `yaml:"variables"`
	// KeyBy makes the variable a map with one value per key; the expression returns the key of an item or of its value.
	KeyBy Text `yaml:"keyBy"`
	// GroupBy makes the variable a map with a list of values per key.
	GroupBy Text `yaml:"groupBy"`
	// OrderBy are expressions over the item and its value that values are sorted by.
	OrderBy []Text `yaml:"orderBy"`
	// Unique removes duplicate values.
	Unique bool `yaml:"unique"`
	// Rego queries a Rego module.
	Rego *Rego `yaml:"rego"`
	// Union says that the variable is an input of several kinds: the list of its parts.
	Union bool `yaml:"-"`
	Pos   document.Position
}

// Rego asks a Rego module for a value.
type Rego struct {
	// Query is a rule such as data.package.rule.
	Query Text `yaml:"query" schema:"required"`
	// Module is inline Rego; without it modules stand in .rego files beside
	// the policy.
	Module Text `yaml:"module"`
	// Input is a template for the input of the query.
	Input Template `yaml:"input"`
	// Result is what the query may return.
	Result RegoResult `yaml:"result"`
	Pos    document.Position
}

// RegoResult says what a query may answer.
type RegoResult struct {
	// Enum lists the texts that it may return.
	Enum *document.Node `yaml:"enum"`
	// Schema is an OpenAPI schema of what it may return.
	Schema *document.Node `yaml:"schema"`
}

// Metric exports a happening of the engine under a name of the policy's own.
type Metric struct {
	// Name is that of the metric in Prometheus.
	Name Text `yaml:"name" schema:"required"`
	// Help describes the metric.
	Help Text `yaml:"help"`
	// Of is the happening: effect.written, effect.failed, rule.debounced,
	// rule.retried, rule.dropped, watch.error, watch.reconnect, leader.state,
	// leader.transition, leader.acquire, queue.pending, build.info.
	Of Text `yaml:"of" schema:"required,enum=effect.written|effect.failed|rule.debounced|rule.retried|rule.dropped|watch.error|watch.reconnect|leader.state|leader.transition|leader.acquire|queue.pending|build.info"`
	// Rule restricts the metric to one rule; * and none mean all.
	Rule Text `yaml:"rule"`
	// Labels are templates for the values of labels, by name.
	Labels []Entry[Template] `yaml:"labels"`
	// Buckets are those of a histogram, in ascending order.
	Buckets *document.Node `yaml:"buckets"`
	Pos     document.Position
}
