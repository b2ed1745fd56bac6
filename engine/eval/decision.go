package eval

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Key names the object that is decided about.
type Key struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns namespace/name, or the name alone.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// ParseKey parses what String returned.
func ParseKey(text string) Key {
	if namespace, name, ok := strings.Cut(text, "/"); ok {
		return Key{Namespace: namespace, Name: name}
	}
	return Key{Name: text}
}

// The verbs of effects.
const (
	VerbPatch  = "patch"
	VerbCreate = "create"
	VerbApply  = "apply"
	VerbDelete = "delete"
	VerbScale  = "scale"
	VerbEvict  = "evict"
	VerbEvent  = "event"
	// VerbApprove is also that of a denial.
	VerbApprove = "approve"
)

// Effect is one write that a decision wants. Effects that would change
// nothing are not in a decision.
type Effect struct {
	// Rules are the rules it comes from; several when writes were joined.
	Rules []string
	Verb  string
	// Subresource is "" or "status".
	Subresource string
	Target      world.ID
	// Type is that of the object that a patch or an apply changes, as far as it is known.
	Type *schema.Type
	// Patch is a JSON merge patch, the whole object of a create or an apply, the
	// event, or what scaling changes of the object.
	Patch *value.Map
	// Replicas is how many an object is scaled to.
	Replicas int64
	// Signer is that of a request which is approved or denied.
	Signer string
	// Before is the target as it was when the effect was decided.
	Before *value.Map
	// Conditions are the types of the conditions that are set: their
	// observedGeneration is that of the object when it is written.
	Conditions []string
	// Missing says that the object did not exist when it was decided to make it;
	// Refuse, that one which exists after all is not taken over unless it is the
	// policy's.
	Missing, Refuse bool
	// Made reports whether the same decision creates the target.
	Made bool
	// Takes is true if an apply may take over an object of another manager.
	Takes bool
	// Unlocked says that the patch depends on nothing that was read, or that the
	// object is deleted although it has changed: it is sent without the version
	// that the object had.
	Unlocked bool
	// Finally makes it be written although an earlier rule has failed.
	Finally bool
	// Propagation and GracePeriod (in seconds; nil is the kind's own) are those of
	// a deletion; the latter is also that of an eviction.
	Propagation string
	GracePeriod *int64
	// Item counts the items whose effects these are: the effects of one item
	// are written in order, up to the first that fails. Rule is the index of
	// the rule. A joined write has the item and the rule of its first part; Also
	// lists the items of the other parts.
	Item, Rule int
	Also       []int
}

// Changes returns the fields that a patch changes. A map, or a list of named items, that is
// added or removed as a whole is reported field by field, so that the path of a field does
// not depend on other fields.
func (e *Effect) Changes() []value.Difference {
	return value.Differ{Maps: true, Lists: true, Same: func(was, now value.Value, t *schema.Type) bool {
		return t != nil && Stored(was, now, t)
	}}.Diff(e.Before, e.Before.Merged(e.Patch), e.Type)
}

// of reports whether an effect is of one of some rules.
func (e *Effect) of(rules []string) bool {
	return len(rules) > 0 && slices.ContainsFunc(e.Rules, func(rule string) bool { return slices.Contains(rules, rule) })
}

// Problem is an item that failed.
type Problem struct {
	Rule string
	// Item is the name of the item that failed, where it has one.
	Item string
	Err  error
}

// Transient reports whether trying again may help although nothing that was
// read has changed: a call failed, or the clock ended the evaluation. All else
// is computed from what was read, and comes out the same.
func (p *Problem) Transient() bool { return passing(p.Err) }

// errForeign is wrapped by what is said of an object that exists where one is to be created,
// and is not the policy's.
var errForeign = errors.New("it is left alone; choose another name, or delete it")

// Remark reports whether the item goes on: an object that was to be created exists.
func (p *Problem) Remark() bool { return errors.Is(p.Err, errForeign) }

// Line is a line for the controller's log.
type Line struct {
	At             document.Position
	Level, Message string
}

// Call is a question to a builtin that looks outside, and the answer.
type Call struct {
	Rule     string
	Request  *expr.Request
	Response *expr.Response
	Err      error
	// AnsweredBefore says that it was not made: the answer is that of an earlier one.
	AnsweredBefore bool
}

// Decision is what came of an evaluation.
type Decision struct {
	// Revision is that of the policy.
	Revision string
	Effects  []*Effect
	// Problems are the items that failed.
	Problems []Problem
	// Rejected are the indexes of the writes of Input.Rejected that were decided again.
	Rejected []int
	// Next is when the decision changes by the passing of time alone; zero
	// when it does not.
	Next time.Time
	Log  []Line
	// Debounced are the rules that are delayed, or were, by a debounce, and Rated those
	// that are by their rate; see Delayed.
	Debounced []Debounced
	Rated     []Rated
	// Remember is what the next evaluations of the key recall.
	Remember map[string]value.Value
	// Calls are the questions that were asked, in order.
	Calls []Call
	// Ran are the rules that got as far as an item, or were debounced.
	Ran RuleSet
	// Reached are the rules that were evaluated: neither after one that stopped nor
	// skipped because one before had failed.
	Reached RuleSet
	// Fired are the rules that ran, or ran for an item, also those that a debounce ran.
	Fired RuleSet
	// Unselected says that a selection had no candidate left.
	Unselected bool
	// Refused is true if a call dropped candidates of that selection.
	Refused bool
	// Cost is what the evaluation cost, in CEL units.
	Cost uint64
	// Skipped counts items on which a `where` failed.
	Skipped int
}

// Rated counts the items of a rule that wait because of its rate.
type Rated struct {
	Rule, Items int
	// Due is when the next of them runs.
	Due time.Time
}

// Delay describes a rule that waits because of its debounce or its rate.
type Delay struct {
	// Key is the debounce key; it is empty for a rate.
	Key string
	// Items is how many wait because of a rate.
	Items int
	// Wanted is true if the condition of the rule is true.
	Wanted bool
	// Due is when the rule runs next.
	Due time.Time
}

// Delayed returns the delay of a rule, or nil.
func (d *Decision) Delayed(rule int) *Delay {
	if at := slices.IndexFunc(d.Debounced, func(one Debounced) bool { return one.Rule == rule && !one.Ran }); at >= 0 {
		one := &d.Debounced[at]
		return &Delay{Key: one.Key, Wanted: one.Wanted, Due: one.Due}
	}
	if at := slices.IndexFunc(d.Rated, func(one Rated) bool { return one.Rule == rule }); at >= 0 {
		one := &d.Rated[at]
		return &Delay{Items: one.Items, Wanted: true, Due: one.Due}
	}
	return nil
}

// Failed reports whether a rule, or an item of it, failed.
func (d *Decision) Failed(rule string) bool {
	return slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Rule == rule })
}
