package policies

import (
	"path"
	"slices"

	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// addOthers adds the replicas that have not the same of a policy in force as this one: until
// they have, an edit is not in force for all objects. One that has it soon is no news, and
// there is no Event about it.
func (t *tally) addOthers(id string, p *lifecycle.Policy, others []controller.Other) {
	here := p.Report.InForce
	stopped := here == "" && p.Assigned == nil
	for _, other := range others {
		line := id + ": the replica " + other.Replica
		switch {
		case other.Why != "":
			t.waits = append(t.waits, line+" does not run it: "+other.Why)
		case other.Grouped && (stopped || here != ""):
			t.loading = append(t.loading, line+" has not the same in force of it, or of a policy that it announces together with it")
		case other.Behind && (stopped || here != ""):
			t.loading = append(t.loading, line+" has not read yet which revision is in force")
		case stopped:
			t.loading = append(t.loading, line+" still runs it") // or would, if it is being loaded
			t.stillRuns(id, other.InForce)
		case here == "": // it is waited for here
		case other.InForce == "":
			t.loading = append(t.loading, line+" does not run it yet")
		case other.InForce == here: // it has read what was in force for a moment
			t.loading = append(t.loading, line+" loads the revision "+other.Next)
		default:
			t.loading = append(t.loading, line+" still runs the revision "+other.InForce)
		}
	}
}

// stillRuns adds a policy that has stopped here to those that run.
func (t *tally) stillRuns(id, revision string) {
	if one := id + "=" + revision; revision != "" && !slices.Contains(t.runs, one) {
		t.runs = append(t.runs, one)
	}
}

// addLeft adds the policies that were last in a ConfigMap, are gone, and still run in other
// replicas.
func (r *reporter) addLeft(sum *tally, c *source.Catalog, contents *source.Contents, others *controller.Comparison) {
	for _, id := range others.Elsewhere(r.kept()) {
		if path.Dir(r.place(id, nil)) == contents.Path() && !slices.Contains(r.known(c), id) {
			p := r.policies.Get(id)
			sum.addOthers(id, &p, others.Others(id))
		}
	}
}
