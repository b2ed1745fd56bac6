package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// verdict is what a comparison of two revisions about a key came to.
type verdict struct {
	// failure is why the new revision fails and the one in force does not, rejected why
	// a write of it was rejected; "" is that it does not.
	failure, rejected string
	// difference is what the new revision does otherwise; "" is nothing.
	difference string
	// undetermined says that it cannot be told.
	undetermined bool
}

// error is why the key counts as an error. A write that was rejected counts if the
// revision in force would write otherwise.
func (v *verdict) error() string {
	if v.failure == "" && v.difference != "" {
		return v.rejected
	}
	return v.failure
}

// maxVerdict is the length of a text in a verdict, in bytes.
const maxVerdict = 256

// compare lets the other revision decide in the snapshot of a decision, with the memory
// of the one that decides, and notes how they differ. It returns when the other one is
// due.
func (r *Rollout) compare(ctx context.Context, owner *Controller, in eval.Input, d *eval.Decision) time.Time {
	other, asked := r.other(owner), ""
	would := other.input(in.Key, in.Now, in.World, other.reads.primary(in.World, in.Key), nil)
	would.Answers = recorded{calls: d.Calls, asked: &asked}
	would.Initial, would.Recall, would.Remembered, would.Apart = in.Initial, in.Recall, in.Remembered, in.Apart
	would.Intents = func(debounce string) eval.Intent {
		return translated(owner.known.intents.known(debounce), owner.Policy, other.Policy)
	}
	other.known.wakes.take(in.Key)
	o, err := safely(func() *eval.Decision { return other.evaluate(ctx, would) })
	if err != nil {
		v := verdict{undetermined: other == r.base}
		if other == r.next {
			v.failure = value.Cut(err.Error(), maxVerdict)
		}
		r.note(in.Key, v)
		return time.Time{}
	}
	mine, theirs := trial{c: owner, d: d}, trial{c: other, d: o, asked: asked != ""}
	if owner == r.next {
		mine, theirs = theirs, mine
	}
	r.note(in.Key, judge(mine, theirs))
	return o.Next
}

// safely makes a decision. A panic is an error: it must not keep the other revision from
// deciding.
func safely(decide func() *eval.Decision) (d *eval.Decision, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error (panic): %v", v)
		}
	}()
	return decide(), nil
}

// translated returns an intent of a revision as another one knows it.
func translated(i eval.Intent, from, to *plan.Policy) eval.Intent {
	if i == (eval.Intent{}) || from == to {
		return i
	}
	name := from.Rules[i.Rule].Name
	i.Rule = slices.IndexFunc(to.Rules, func(rule *plan.Rule) bool { return rule.Name == name && rule.Debounce != nil })
	if i.Rule < 0 {
		return eval.Intent{}
	}
	return i
}

// judge compares the decisions of the revision in force and of the new one. If one of
// them asks what nobody has asked, only a failure that does not come from an answer is
// told.
func judge(base, next trial) (v verdict) {
	err := next.error()
	switch {
	case err != nil && base.error() == nil && (!base.asked || !passing(next.d)):
		v.failure = value.Cut(err.Error(), maxVerdict)
	case base.asked || next.asked:
		v.undetermined = true
	case !slices.Equal(effectTexts(base.d), effectTexts(next.d)):
		v.difference = differenceText(base, next)
	}
	return v
}

// differenceText says in what two decisions differ. Of policies that see values of
// Secrets it has no values.
func differenceText(base, next trial) string {
	if base.c.grants.Values() || next.c.grants.Values() {
		return "the writes differ"
	}
	return cmp.Or(value.Cut(strings.Join(differences(base.d, next.d), "; "), maxVerdict), "the order of the writes differs")
}

// passing reports whether all problems of a decision may pass by themselves.
func passing(d *eval.Decision) bool {
	return !slices.ContainsFunc(d.Problems, func(p eval.Problem) bool { return !p.Transient() })
}

// note stores a verdict. That a write was rejected holds until another one is not.
func (r *Rollout) note(key eval.Key, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.rejected = r.verdicts[key].rejected
	r.verdicts[key] = v
	delete(r.todo, key)
}

// noteRejections stores whether a write of the new revision was rejected for what it
// says, if that has written.
func (r *Rollout) noteRejections(by *Controller, key eval.Key, outcomes []apply.Outcome) {
	if by != r.next {
		return
	}
	why := ""
	for _, o := range outcomes {
		if apply.IsRejected(o.Err) {
			why = value.Cut(o.Err.Error(), maxVerdict)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.verdicts[key]; ok {
		v.rejected = why
		r.verdicts[key] = v
	}
}

// RolloutReport is how far a rollout has come.
type RolloutReport struct {
	// Revision is the new revision.
	Revision string
	// Keys is how many keys there are, Moved how many of them the new revision decides
	// about, Todo how many were not decided about since the last step.
	Keys, Moved, Todo int
	// Errors is for how many keys the new revision fails and the one in force does not,
	// Disagreements for how many they differ, Undetermined for how many that cannot be
	// told.
	Errors, Disagreements, Undetermined int
	// Failing and Differing are the first of them, with what fails or differs; "" is
	// none.
	Failing, Differing string
}

// Report returns how far the rollout has come. Keys that are gone do not count.
func (r *Rollout) Report() RolloutReport {
	keys := r.keys()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := RolloutReport{Revision: r.next.Policy.Revision, Keys: len(keys)}
	verdicts := make(map[eval.Key]verdict, len(keys))
	for _, key := range keys {
		if r.moved[key] {
			out.Moved++
		}
		if r.todo[key] {
			out.Todo++
		}
		if v, ok := r.verdicts[key]; ok {
			verdicts[key] = v
			out.add(key, &v)
		}
	}
	r.verdicts = verdicts
	return out
}

func (out *RolloutReport) add(key eval.Key, v *verdict) {
	switch {
	case v.error() != "":
		if out.Errors++; out.Failing == "" {
			out.Failing = key.String() + ": " + v.error()
		}
	case v.difference != "":
		if out.Disagreements++; out.Differing == "" {
			out.Differing = key.String() + ": " + v.difference
		}
	case v.undetermined:
		out.Undetermined++
	}
}
