package record

import (
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
)

// Document is a record as JSON shows it.
type Document struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Policy   string    `json:"policy"`
	Revision string    `json:"revision"`
	Key      eval.Key  `json:"key"`
	// WokenBy says why the key was evaluated.
	WokenBy []WakeDocument `json:"wokenBy"`
	// Reads are the objects that the decision depends on.
	Reads []ReadDocument `json:"reads"`
	// Variables are the values of the policy's variables that were computed, in
	// that order, and once more when they changed.
	Variables  []VariableDocument  `json:"variables"`
	Rules      []RuleDocument      `json:"rules"`
	Selections []SelectionDocument `json:"selections"`
	Calls      []CallDocument      `json:"calls"`
	Effects    []EffectDocument    `json:"effects"`
	// Lists say to which lists of the policy something belongs, when that was asked.
	Lists []ListDocument `json:"lists,omitempty"`
	// Deadlines are the times at which the decision changes by itself.
	Deadlines []DeadlineDocument `json:"deadlines"`
	// Next is when the key is evaluated again without a change.
	Next *time.Time `json:"next,omitempty"`
	// Remembered is what the key remembers after the decision.
	Remembered map[string]any `json:"remembered,omitempty"`
	Error      string         `json:"error,omitempty"`
	// LeftOff are the lists that are not whole, by name: the document would have been
	// too large.
	LeftOff []LeftOffDocument `json:"leftOff,omitempty"`
}

// LeftOffDocument says how many entries of a list were left off.
type LeftOffDocument struct {
	List  string `json:"list"`
	Count int    `json:"count"`
}

// ObjectDocument names an object.
type ObjectDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Same reports whether other names the same object, in any version of its group.
func (o ObjectDocument) Same(other ObjectDocument) bool {
	gvk := schema.GVK{APIVersion: o.APIVersion, Kind: o.Kind}
	o.APIVersion = other.APIVersion
	return o == other && gvk.Group() == schema.GVK{APIVersion: other.APIVersion}.Group()
}

// WakeDocument is a reason to evaluate a key.
type WakeDocument struct {
	Reason Reason          `json:"reason"`
	Object *ObjectDocument `json:"object,omitempty"`
	// Fields are those that have changed, of those that are read.
	Fields []string `json:"fields,omitempty"`
}

// WriteDocument is a write of a policy, with the JSON names that a line of the log has.
type WriteDocument struct {
	At        time.Time      `json:"time"`
	Reconcile string         `json:"reconcileID"`
	Policy    string         `json:"policy"`
	Rule      string         `json:"rule"`
	Key       string         `json:"key"`
	Verb      string         `json:"verb"`
	Target    ObjectDocument `json:"target"`
	WokenBy   []WakeDocument `json:"wokenBy"`
	// Fields are the paths of the changed fields of a patch. A line of the log has none.
	Fields []string `json:"fields,omitempty"`
}

// ReadDocument is an object that was read, and the fields that matter.
type ReadDocument struct {
	ObjectDocument
	ResourceVersion string   `json:"resourceVersion"`
	Fields          []string `json:"fields"`
	// Digests reports whether the values of a Secret were digests.
	Digests bool `json:"digests,omitempty"`
	// Deleting reports whether the object was being deleted, Finalizers keep it then, as far
	// as they are known.
	Deleting   bool     `json:"deleting,omitempty"`
	Finalizers []string `json:"finalizers,omitempty"`
}

// VariableDocument is the value of a variable.
type VariableDocument struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Error string `json:"error,omitempty"`
}

// The outcomes of a rule.
const (
	OutcomeFired      = "fired"
	OutcomeSkipped    = "skipped"
	OutcomeDelayed    = "delayed"
	OutcomeFailed     = "failed"
	OutcomeNotReached = "notReached"
)

// RuleDocument is what became of a rule.
type RuleDocument struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	// Child is the name of the children that the rule makes or deletes.
	Child string `json:"child,omitempty"`
	// Delayed is set if the rule waits because of its debounce, or for some of its items
	// because of its rate. With a rate it may have run for others.
	Delayed *DelayDocument `json:"delayed,omitempty"`
	When    *WhenDocument  `json:"when,omitempty"`
	// Items are those of its list, or the one of a rule without a list.
	Items []ItemDocument `json:"items,omitempty"`
	Error string         `json:"error,omitempty"`
}

// DelayDocument is a run that waits.
type DelayDocument struct {
	// Key is the debounce key; it is empty for a rate.
	Key string `json:"key,omitempty"`
	// Items is how many wait because of a rate.
	Items int `json:"items,omitempty"`
	// Due is the time of the next run.
	Due time.Time `json:"due"`
}

// WhenDocument is a condition with its value, and the parts that decided.
type WhenDocument struct {
	Text  string         `json:"text"`
	Value any            `json:"value"`
	Error string         `json:"error,omitempty"`
	Parts []WhenDocument `json:"parts,omitempty"`
}

// ItemDocument is what became of an item.
type ItemDocument struct {
	Key string `json:"key,omitempty"`
	// Case is the row of the decision table that matched.
	Case string        `json:"case,omitempty"`
	Ran  bool          `json:"ran"`
	When *WhenDocument `json:"when,omitempty"`
	// Rows are the conditions of the decision table when none of them holds.
	Rows      []WhenDocument `json:"rows,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// ListDocument says whether something belongs to a list of the policy.
type ListDocument struct {
	// List is inputs.NAME or variables.NAME.
	List string `json:"list"`
	// Object is the object of an input; absent for an item of a variable.
	Object   *ObjectDocument `json:"object,omitempty"`
	Included bool            `json:"included"`
	// Elsewhere says that the input has objects of the namespace of the primary object
	// only, and this one is in another.
	Elsewhere bool          `json:"elsewhere,omitempty"`
	When      *WhenDocument `json:"when,omitempty"`
}

// SelectionDocument is what a select chose from.
type SelectionDocument struct {
	Rule       string              `json:"rule"`
	Item       string              `json:"item,omitempty"`
	Summary    string              `json:"summary"`
	Total      int                 `json:"total"`
	Candidates []CandidateDocument `json:"candidates"`
	// Winner is the place of the winner among the candidates, of several that of the
	// best; absent is none.
	Winner *int `json:"winner,omitempty"`
}

// CandidateDocument is what became of a candidate.
type CandidateDocument struct {
	Names     map[string]string `json:"names"`
	DroppedBy string            `json:"droppedBy,omitempty"`
	// Taken says that a select with take took it, Why what it took of the budget, or
	// why it was not taken.
	Taken  bool             `json:"taken,omitempty"`
	Why    string           `json:"why,omitempty"`
	Points map[string]int64 `json:"points,omitempty"`
	Score  int64            `json:"score"`
	// Rank counts the candidates that are left from 1, the best first.
	Rank int `json:"rank,omitempty"`
}

// CallDocument is a call of a builtin outside of the process.
type CallDocument struct {
	Rule     string `json:"rule"`
	Builtin  string `json:"builtin"`
	Request  any    `json:"request"`
	Response any    `json:"response"`
	Error    string `json:"error,omitempty"`
	// AnsweredBefore says that the call was not made: the answer is that of an earlier one.
	AnsweredBefore bool `json:"answeredBefore,omitempty"`
}

// EffectDocument is a write, and what the API server made of it.
type EffectDocument struct {
	Rule        string         `json:"rule"`
	Verb        string         `json:"verb"`
	Subresource string         `json:"subresource,omitempty"`
	Target      ObjectDocument `json:"target"`
	Before      any            `json:"before,omitempty"`
	Patch       any            `json:"patch,omitempty"`
	// Result is written, unchanged, skipped, held, gone, refused, conflict or failed; empty when
	// the effect was not tried.
	Result string `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// DeadlineDocument is a time at which a decision changes by itself.
type DeadlineDocument struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}
