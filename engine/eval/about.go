package eval

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// AboutDetails say whether something of a name belongs to a list of the policy,
// and what decided.
type AboutDetails struct {
	// List is inputs.NAME or variables.NAME.
	List string
	// Object is the object of an input; nil for an item of a variable.
	Object   *world.Object
	Included bool
	// Elsewhere says that the input is restricted to the namespace of the key, and
	// the object is in another one.
	Elsewhere bool
	// When is the condition of the list; nil when it has none.
	When *ConditionDetails
}

// noteAbout records whether what is asked about belongs to the lists of the policy.
// It is not charged to the policy.
func (x explaining) noteAbout() {
	if x.ev.in.Details == nil || x.ev.in.Details.About == "" {
		return
	}
	free := *x.ev
	free.meter = expr.NewMeter(x.ev.meter.Parent())
	defer free.meter.Close()
	for _, in := range x.ev.in.Policy.Inputs {
		if !in.Off && in.Shape != plan.One {
			explaining{&free}.aboutInput(in)
		}
	}
	for _, v := range x.ev.in.Policy.Variables {
		if v.Collection != nil {
			explaining{&free}.aboutItems(v)
		}
	}
}

func (x explaining) aboutInput(in *plan.Input) {
	for _, o := range (search{ev: x.ev, in: in, table: x.ev.in.World.Table(in.Source)}).every() {
		if o.Name != x.ev.in.Details.About {
			continue
		}
		f := x.ev.frame()
		f.push("item", x.ev.overlay.of(o))
		when, near := x.decided(in.Where, f), in.Near(x.ev.in.Key.Namespace, o)
		x.ev.in.Details.Lists = append(x.ev.in.Details.Lists, AboutDetails{List: "inputs." + in.Name, Object: o, When: when, Included: near && when.holds(), Elsewhere: !near})
	}
}

func (x explaining) aboutItems(v *plan.Variable) {
	c := v.Collection
	list, err := computation(x).items(c, x.ev.frame())
	if err != nil {
		return // the variable fails, which is reported
	}
	for _, item := range list.Items() {
		if value.NameOf(item) != x.ev.in.Details.About {
			continue
		}
		f := x.ev.frame()
		f.push(c.As, item)
		f.declare(c.Locals)
		when := x.decided(c.When, f)
		x.ev.in.Details.Lists = append(x.ev.in.Details.Lists, AboutDetails{List: analyze.VariableRef(v.Name).String(), When: when, Included: when.holds()})
	}
}

// holds reports whether a condition holds; one that is absent does.
func (c *ConditionDetails) holds() bool {
	return c == nil || c.Err == nil && value.IsTrue(c.Value)
}

// maxExpanded is how many variables behind variables are explained.
const maxExpanded = 3

// behind returns the parts that decided about a variable, if a condition is
// nothing but that variable or its negation.
func (x explaining) behind(source string, depth int) []ConditionDetails {
	slot, ok := x.ev.in.Policy.Slots.Of(strings.TrimSpace(strings.TrimPrefix(source, "!")))
	if !ok || slot.Kind != plan.VariableSlot || depth == maxExpanded {
		return nil
	}
	v := x.ev.in.Policy.Variables[slot.Index]
	if v.Program == nil {
		return nil
	}
	whole := x.explained(v.Program, x.ev.frame(), depth+1)
	if len(whole.Parts) == 0 {
		return []ConditionDetails{whole}
	}
	return whole.Parts
}
