package compile

import (
	"strconv"

	"github.com/edict-dev/edict/engine/identity"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// ratedName is the local name of the times that a rule with a rate writes.
const ratedName = "times"

// rates compiles how often rules may run.
type rates struct {
	policy   *v1alpha1.Policy
	names    *names
	actions  actionList
	problems *findings
	// annotations are the names of those that the rules so far have.
	annotations map[string]bool
}

// rate compiles the rate of a rule; nil if it is wrong.
func (rs *rates) rate(r *v1alpha1.Rule, out *plan.Rule) *plan.Rate {
	d := r.Rate
	switch {
	case !d.Max.Set() || !d.Per.Set():
		rs.problems.Hintf(d.Pos, "rate: {max: 20, per: 1m}", "rate needs max and per")
		return nil
	case r.Debounce != nil:
		rs.problems.Hintf(d.Pos, "remove one of the two", "the rule has debounce and rate")
		return nil
	case out.WhenPerItem:
		rs.problems.Hintf(r.When.Pos(), "filter the list: forEach: list.filter(item, ...)", "a rate counts all items of the list, so when cannot name one")
		return nil
	case !positive(d.Per, rs.problems), !mayKeep(rs.policy, r, d.Pos, rs.annotations, rs.problems):
		return nil
	}
	if n, err := strconv.Atoi(d.Max.Value); err == nil && (n < 1 || n > plan.MaxRate) {
		rs.problems.Errorf(d.Max.Pos(), "the max of a rate is %d, from 1 to %d are allowed", n, plan.MaxRate)
		return nil
	}
	text := func(expression string) v1alpha1.Text {
		return v1alpha1.Text{Value: expression, Node: document.NewText(d.Pos, expression)}
	}
	name := identity.MarkKey(plan.RatePrefix, rs.policy.ID(), r.Name.Value)
	note := v1alpha1.MapAction{Pos: d.Pos, Set: []v1alpha1.Entry[v1alpha1.Template]{
		{Key: text(name), Value: v1alpha1.Template{Node: text("${" + ratedName + "}").Node}},
	}}
	gate := newScope(rs.names, out.Gate)
	return &plan.Rate{
		Max: gate.typed(d.Max, cel.IntType), Per: gate.typed(text(duration(d.Per)), cel.DurationType),
		Times: gate.typed(text(annotationOf(name)+`.orValue("")`), cel.StringType), Noted: ratedName,
		Note: rs.actions(newScope(rs.names, out.Node).with(ratedName, cel.StringType, nil, d.Pos), []v1alpha1.Action{{Pos: d.Pos, Annotations: &note}}),
	}
}
