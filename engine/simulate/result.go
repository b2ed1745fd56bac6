package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Result is what a simulation did: the contract of `edict simulate -o json`.
type Result struct {
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Effects []Effect  `json:"effects"`
	Calls   []Call    `json:"calls"`
	Objects []Object  `json:"objects"`
	Errors  []Error   `json:"errors"`
	Requeue []Requeue `json:"requeue"`
	// Paused are the policies that the limits of writes would have paused.
	Paused []Paused `json:"paused"`
	// Refused are evictions that the API server refuses for now, each once.
	Refused []Refusal `json:"refused,omitempty"`
	// Missed are patches of the timeline whose object did not exist.
	Missed []Missed `json:"missed,omitempty"`
	// Traces are the records of all decisions, when they were asked for.
	Traces []*record.Document `json:"traces,omitempty"`
}

// Effect is a write that changed something.
type Effect struct {
	At          time.Time `json:"at"`
	Policy      string    `json:"policy"`
	Rule        string    `json:"rule"`
	Key         eval.Key  `json:"key"`
	Verb        string    `json:"verb"`
	Subresource string    `json:"subresource"`
	Target      Target    `json:"target"`
	Patch       any       `json:"patch"`
}

// Refusal is an eviction that was refused, and is tried again.
type Refusal struct {
	At      time.Time `json:"at"`
	Policy  string    `json:"policy"`
	Rule    string    `json:"rule"`
	Key     eval.Key  `json:"key"`
	Verb    string    `json:"verb"`
	Target  Target    `json:"target"`
	Message string    `json:"message"`
}

// Missed is a patch whose object did not exist.
type Missed struct {
	At     time.Time `json:"at"`
	Target Target    `json:"target"`
}

// Target names an object.
type Target struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

func targetOf(id world.ID) Target {
	return Target{APIVersion: id.APIVersion(), Kind: id.Kind(), Namespace: id.Namespace(), Name: id.Name()}
}

func (t Target) id() world.ID { return Reference(t).ID() }

// Call is a call of a builtin with side effects.
type Call struct {
	At       time.Time `json:"at"`
	Policy   string    `json:"policy"`
	Key      eval.Key  `json:"key"`
	Builtin  string    `json:"builtin"`
	Request  any       `json:"request"`
	Response any       `json:"response"`
	Error    string    `json:"error"`
}

// Error is a reconciliation that failed.
type Error struct {
	At      time.Time `json:"at"`
	Policy  string    `json:"policy"`
	Key     eval.Key  `json:"key"`
	Message string    `json:"message"`
}

// Requeue is a deadline that lies ahead.
type Requeue struct {
	Policy string    `json:"policy"`
	Key    eval.Key  `json:"key"`
	At     time.Time `json:"at"`
}

// Paused is a policy that a controller would have paused: it wrote or removed more within a
// window than its limit.
type Paused struct {
	At     time.Time `json:"at"`
	Policy string    `json:"policy"`
	// What is changes or removals, Count their number within the window.
	What   string        `json:"what"`
	Count  int64         `json:"count"`
	Limit  int64         `json:"limit"`
	Window time.Duration `json:"-"`
	start  time.Time
}

// String returns a sentence with the time and the cause of the pause.
func (p Paused) String() string {
	return fmt.Sprintf("%s would be paused at +%s: %d %s within %s, and its limit is %d; spec.limits.%s gives it another",
		p.Policy, p.At.Sub(p.start), p.Count, p.What, p.Window, p.Limit, p.What)
}

// whats has the kind of write that each reason counts.
var whats = map[brake.Reason]string{brake.ChangeLimit: "changes", brake.RemovalLimit: "removals"}

// pauses returns the first pause of each policy, also of processes that have ended.
func (s *Simulation) pauses() []brake.Pause {
	out := slices.Clone(s.done.pauses)
	if s.process.group == nil {
		return out
	}
	for _, p := range s.options.Policies {
		if !slices.ContainsFunc(out, func(one brake.Pause) bool { return one.Policy == p.ID() }) {
			out = append(out, s.process.group.Brakes.Pauses(p.ID())...)
		}
	}
	return out
}

// Paused returns the policies that the limits of writes would have paused.
func (s *Simulation) Paused() []Paused {
	out := []Paused{}
	for _, p := range s.pauses() {
		if what := whats[p.Reason]; what != "" {
			out = append(out, Paused{At: p.Since, Policy: p.Policy, What: what, Count: p.Count, Limit: p.Limit, Window: p.Window(), start: s.options.Start})
		}
	}
	return out
}

// virtual returns the settings of brakes that keep nothing back.
func (o *Options) virtual() brake.Settings {
	out := brake.DefaultSettings()
	if o.Limits != nil {
		out = *o.Limits
	}
	out.Virtual = true
	return out
}

// record adds what a reconciliation did. It estimates how many bytes that takes, with the
// objects that were written.
func (r *Result) record(at time.Time, i item, got reconcile.Result) (bytes int) {
	for _, c := range got.Decision.Calls {
		if !c.AnsweredBefore {
			call := callOf(at, i, c)
			bytes += entryBytes + Size(call.Request) + Size(call.Response) + len(call.Error)
			r.Calls = append(r.Calls, call)
		}
	}
	for _, o := range got.Outcomes {
		if o.Refused != nil {
			r.refuse(Refusal{At: at.UTC(), Policy: i.policy, Rule: joined(o.Effect.Rules), Key: i.key, Verb: o.Effect.Verb, Target: targetOf(o.Effect.Target), Message: o.Refused.Error()})
		}
		if !o.Written() {
			continue
		}
		patch := value.Plain(o.Effect.Patch)
		bytes += entryBytes + 2*Size(patch) // once more in the object
		r.Effects = append(r.Effects, Effect{
			At: at.UTC(), Policy: i.policy, Rule: joined(o.Effect.Rules), Key: i.key, Verb: o.Effect.Verb,
			Subresource: o.Effect.Subresource, Target: targetOf(o.Effect.Target), Patch: patch,
		})
	}
	failed := got.Final
	if !got.Quiet {
		failed = errors.Join(got.Final, got.Err)
	}
	if failed != nil {
		bytes += r.fail(at, i, failed.Error())
	}
	for _, err := range got.Reported {
		bytes += r.fail(at, i, err.Error())
	}
	return bytes
}

// refuse adds a refusal, unless the same one has come before.
func (r *Result) refuse(one Refusal) {
	if !slices.ContainsFunc(r.Refused, func(other Refusal) bool {
		other.At = one.At
		return other == one
	}) {
		r.Refused = append(r.Refused, one)
	}
}

func callOf(at time.Time, i item, c eval.Call) Call {
	request, response := record.CallOf(c)
	out := Call{At: at.UTC(), Policy: i.policy, Key: i.key, Builtin: c.Request.Query, Request: request}
	if c.Err != nil {
		out.Error = c.Err.Error()
	} else if response != nil {
		out.Response = response
	}
	return out
}

func joined(rules []string) string {
	out := ""
	for n, rule := range rules {
		if n > 0 {
			out += ", "
		}
		out += rule
	}
	return out
}

func (r *Result) fail(at time.Time, i item, message string) (bytes int) {
	r.Errors = append(r.Errors, Error{At: at.UTC(), Policy: i.policy, Key: i.key, Message: message})
	return entryBytes + len(message)
}

// Result returns what was done so far, and the world as it is now.
func (s *Simulation) Result() Result {
	out := s.done.result
	out.Start, out.End = out.Start.UTC(), s.clock.UTC()
	out.Objects = s.server.shown()
	out.Paused = s.Paused()
	for _, d := range s.agenda.timers.all() {
		out.Requeue = append(out.Requeue, Requeue{Policy: d.item.policy, Key: d.item.key, At: d.at.UTC()})
	}
	return out.filled()
}

// Values returns the values of Secrets that there were, for what people and files get.
func (s *Simulation) Values(more ...Object) *snapshot.Values {
	return snapshot.ValuesOf(slices.Concat(s.server.secrets, s.server.objects.List(), more)...)
}

// Shown is Result for people and files, without values of Secrets. What a policy has
// written to objects of other kinds is not hidden. If managed is true, the objects have
// managedFields, as another simulation needs them.
func (s *Simulation) Shown(managed bool) Result {
	out, values := s.Result(), s.Values()
	out.Effects, out.Calls, out.Errors = slices.Clone(out.Effects), slices.Clone(out.Calls), slices.Clone(out.Errors)
	for i, e := range out.Effects {
		out.Effects[i].Patch = values.ShownPatch(e.Target.id(), e.Patch)
	}
	for i, c := range out.Calls {
		out.Calls[i].Request, out.Calls[i].Response, out.Calls[i].Error = values.Hide(c.Request), values.Hide(c.Response), values.Text(c.Error)
	}
	for i, e := range out.Errors {
		out.Errors[i].Message = values.Text(e.Message)
	}
	for i, o := range s.server.objects.List() {
		if s.server.given[ID(o)] != nil || !managed {
			o = out.Objects[i]
		}
		out.Objects[i] = snapshot.ShownObject(o)
	}
	return out
}

// Objects returns the objects as the server in memory has them now, with defaults
// and managedFields. They must not be changed.
func (s *Simulation) Objects() []Object { return s.server.objects.List() }

// filled makes empty lists of absent ones, so that readers need not tell them
// apart.
func (r Result) filled() Result {
	if r.Effects == nil {
		r.Effects = []Effect{}
	}
	if r.Calls == nil {
		r.Calls = []Call{}
	}
	if r.Objects == nil {
		r.Objects = []Object{}
	}
	if r.Errors == nil {
		r.Errors = []Error{}
	}
	if r.Requeue == nil {
		r.Requeue = []Requeue{}
	}
	return r
}
