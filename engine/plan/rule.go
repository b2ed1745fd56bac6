package plan

import (
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/week"
)

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
	// Rate bounds how often the rule runs, unless it is nil.
	Rate *Rate
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
	// Allowed are the times of the week in which it may run; none means always.
	Allowed []Window
}

// MaxRate bounds the Max of a Rate, and so the length of its annotation.
const MaxRate = 500

// Rate bounds how many items a rule runs for in a period that ends now. It counts for one
// primary object.
type Rate struct {
	Max, Per *cel.Program
	// Times gives the annotation of the primary object that has the times of the items, in
	// RFC 3339 and separated by spaces.
	Times *cel.Program
	// Note writes that annotation. The new one is the local value Noted.
	Note  []Action
	Noted string
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
