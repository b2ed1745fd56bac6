package verify

import (
	"cmp"
	"context"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
)

// Options say what is explored, and how far.
type Options struct {
	Policies []*plan.Policy
	Schemas  *schema.Set
	Guard    guard.Guard
	// Objects are the world.
	Objects []simulate.Object
	Answers expr.Answerer
	Start   time.Time
	// PerKind bounds the objects of each kind; 0 takes all.
	PerKind int
	// Changes bounds the changes from outside on the way to a state.
	Changes int
	// Time and States bound the search.
	Time   time.Duration
	States int
	// Findings ends the search.
	Findings int
	// MayForget are policies of which a crash may lose what they remember: after one
	// the kinds that they write are not compared.
	MayForget []string
	// Expected are parts of errors that are no findings.
	Expected []string
	// Progress is called now and then; nil is not.
	Progress func(Explored)
}

// What is left when nothing is said.
const (
	DefaultStates   = 500_000
	DefaultFindings = 20
	maxClocks       = 3
	maxRun          = 40
)

// Explored says what was looked at, and what was not.
type Explored struct {
	// States counts the states, Moves the moves between them that were made, Rests the
	// states in which nothing is left to do.
	States int `json:"states"`
	Moves  int `json:"moves"`
	Rests  int `json:"restingStates"`
	// Evaluations counts decisions, those made again included.
	Evaluations int `json:"evaluations"`
	// Commuting counts the moves that were left out because their order with others
	// makes no difference.
	Commuting int `json:"commuting"`
	// Crashes counts the moves that kill the process, Changes those from outside,
	// Deadlines those of the clock.
	Crashes   int `json:"crashes"`
	Changes   int `json:"changes"`
	Deadlines int `json:"deadlines"`
	// Objects counts the objects of the world; Left are those that it was reduced by.
	Objects int `json:"objects"`
	Left    int `json:"objectsLeftOut"`
	// Fired and Rules count the rules that fired, and all.
	Fired int `json:"rulesFired"`
	Rules int `json:"rules"`
	// Unfired are the others, as "POLICY: RULE".
	Unfired []string `json:"rulesNotFired"`
	// Open counts the states that were reached and not gone on from, Why what ended
	// the search: "" when nothing is left within the bounds.
	Open int    `json:"open"`
	Why  string `json:"cutOff,omitempty"`
	// Beyond counts the states at rest from which further changes were not made,
	// because there had been as many as are allowed; Clock those in which the clock was
	// not moved on.
	Beyond int           `json:"beyondChanges"`
	Clock  int           `json:"beyondDeadlines"`
	Time   time.Duration `json:"-"`
}

// Result is what came of a search.
type Result struct {
	Explored Explored `json:"explored"`
	// Findings lists each fault once.
	Findings []Finding `json:"findings"`
}

// Kind says what is wrong.
type Kind string

// The kinds of findings.
const (
	// Failed is an error that nobody expects.
	Failed Kind = "error"
	// Oscillation are policies that never come to rest.
	Oscillation Kind = "oscillation"
	// Writers are policies that write different values to one field.
	Writers Kind = "writers"
	// Order is an end that depends on the order of decisions.
	Order Kind = "order"
	// Crash is an end that depends on where the process was killed.
	Crash Kind = "crash"
	// Rest is a write in a world that was at rest.
	Rest Kind = "rest"
)

// Finding is what is wrong, with the shortest way there that was found.
type Finding struct {
	Kind    Kind     `json:"kind"`
	Message string   `json:"message"`
	Moves   []string `json:"moves"`
	// Case is the case of a test that fails.
	Case Case `json:"-"`
}

// Run explores within the bounds.
func Run(ctx context.Context, o Options) (*Result, error) {
	o.States, o.Findings = cmp.Or(o.States, DefaultStates), cmp.Or(o.Findings, DefaultFindings)
	w, err := worldOf(&o)
	if err != nil {
		return nil, err
	}
	s := newSearch(o, w)
	result, err := s.run(ctx)
	if err == nil {
		result.hide(snapshot.ValuesOf(o.Objects...))
	}
	return result, err
}

// hide takes values of Secrets out of the findings.
func (r *Result) hide(values *snapshot.Values) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Message, f.Case.Name = values.Text(f.Message), values.Text(f.Case.Name)
		for j, m := range f.Moves {
			f.Moves[j] = values.Text(m)
		}
		for _, step := range f.Case.Steps {
			if s, _ := step.(map[string]any); s["apply"] != nil {
				o, _ := s["apply"].(simulate.Object)
				s["apply"] = snapshot.ShownObject(o)
			}
		}
		f.Case.Steps, _ = values.Hide(f.Case.Steps).([]any)
	}
}
