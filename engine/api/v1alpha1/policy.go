package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Policy decides what becomes of each object of one kind.
type Policy struct {
	APIVersion Text     `yaml:"apiVersion"`
	Kind       Text     `yaml:"kind"`
	Metadata   Metadata `yaml:"metadata"`
	Spec       Spec     `yaml:"spec"`
	// Node is the whole document as it was written.
	Node *document.Node
	Pos  document.Position
}

// The modes of a policy.
const (
	ModeEnforce  = "Enforce"
	ModeShadow   = "Shadow"
	ModeDisabled = "Disabled"
)

// Metadata names the policy.
type Metadata struct {
	Name        Text          `yaml:"name"`
	Labels      []Entry[Text] `yaml:"labels"`
	Annotations []Entry[Text] `yaml:"annotations"`
}

// Spec is the body of a policy.
type Spec struct {
	// Mode is Enforce (default), Shadow or Disabled.
	Mode      Text           `yaml:"mode"`
	For       Primary        `yaml:"for"`
	Params    []Entry[Param] `yaml:"params"`
	Inputs    []Input        `yaml:"inputs"`
	Variables []Variable     `yaml:"variables"`
	Rules     []Rule         `yaml:"rules"`
	Limits    Limits         `yaml:"limits"`
	Metrics   []Metric       `yaml:"metrics"`
}

// Limits bound how much a policy writes: all writes, and those that take
// something away.
type Limits struct {
	Changes  *Limit `yaml:"changes"`
	Removals *Limit `yaml:"removals"`
}

// Limit bounds what may happen within a window of time. Its templates read
// params only.
type Limit struct {
	// PerWindow is a number, with PerCentOf a percentage.
	PerWindow Template `yaml:"perWindow"`
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
	APIVersion Text `yaml:"apiVersion"`
	Kind       Text `yaml:"kind"`
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
	Type        Text           `yaml:"type"`
	Default     *document.Node `yaml:"default"`
	Minimum     *document.Node `yaml:"minimum"`
	Maximum     *document.Node `yaml:"maximum"`
	MinLength   *document.Node `yaml:"minLength"`
	Enum        *document.Node `yaml:"enum"`
	Items       ParamItems     `yaml:"items"`
	Description Text           `yaml:"description"`
}

// ParamItems bounds the items of a list parameter.
type ParamItems struct {
	Enum *document.Node `yaml:"enum"`
}

// Input is another object, or a list of them, that the rules may read.
type Input struct {
	Name       Text `yaml:"name"`
	APIVersion Text `yaml:"apiVersion"`
	Kind       Text `yaml:"kind"`
	// When, over params, switches the input off with its watch.
	When Text `yaml:"when"`
	// Get returns the name, or {namespace, name}, of one object.
	Get Text `yaml:"get"`
	// Selector and Namespace narrow a list; they read params only.
	Selector  Template `yaml:"selector"`
	Namespace Text     `yaml:"namespace"`
	// Where is a join over item, object, key, params and variables.
	Where   Text   `yaml:"where"`
	KeyBy   Text   `yaml:"keyBy"`
	GroupBy Text   `yaml:"groupBy"`
	OrderBy []Text `yaml:"orderBy"`
	Pos     document.Position
}

// Variable is a named value: an expression, a template, a collection or a
// Rego query.
type Variable struct {
	Name       Text `yaml:"name"`
	Expression Text `yaml:"expression"`
	// When with Value: the template's value where When holds, else absent.
	When  Text     `yaml:"when"`
	Value Template `yaml:"value"`
	// ForEach makes the variable a collection: one value per item.
	ForEach   Text       `yaml:"forEach"`
	As        Text       `yaml:"as"`
	Variables []Variable `yaml:"variables"`
	KeyBy     Text       `yaml:"keyBy"`
	GroupBy   Text       `yaml:"groupBy"`
	OrderBy   []Text     `yaml:"orderBy"`
	Unique    bool       `yaml:"unique"`
	Rego      *Rego      `yaml:"rego"`
	Pos       document.Position
}

// Rego asks a Rego module for a value.
type Rego struct {
	Query Text `yaml:"query"`
	// Module is inline Rego; without it modules stand in .rego files beside
	// the policy.
	Module Text       `yaml:"module"`
	Input  Template   `yaml:"input"`
	Result RegoResult `yaml:"result"`
	Pos    document.Position
}

// RegoResult says what a query may answer.
type RegoResult struct {
	Enum   *document.Node `yaml:"enum"`
	Schema *document.Node `yaml:"schema"`
}

// Metric exports a happening of the engine under a name of the policy's own.
type Metric struct {
	Name Text `yaml:"name"`
	Help Text `yaml:"help"`
	// Of is the happening: effect.written, effect.failed, rule.debounced,
	// rule.retried, rule.dropped, watch.error, watch.reconnect, leader.state,
	// leader.transition, leader.acquire, queue.pending, build.info.
	Of      Text              `yaml:"of"`
	Rule    Text              `yaml:"rule"`
	Labels  []Entry[Template] `yaml:"labels"`
	Buckets *document.Node    `yaml:"buckets"`
	Pos     document.Position
}
