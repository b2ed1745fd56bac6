package eval

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Labels computes the labels of metrics for a key. A label that cannot be
// computed is "": what is counted must not get lost.
func Labels(ctx context.Context, in Input, labels []plan.Label) map[string]string {
	out := make(map[string]string, len(labels))
	ev := plainly(ctx, in)
	defer ev.meter.Close()
	for _, l := range labels {
		text, err := ev.text(l.Value, ev.frame())
		if err != nil {
			text = ""
		}
		out[l.Name] = text
	}
	return out
}

// Variable returns the value of a variable of the policy for a key, without any
// memory. It is an error when the policy has no such variable, when there is
// nothing to decide about under the key, and when computing it fails.
func Variable(ctx context.Context, in Input, name string) (value.Value, error) {
	slot, ok := in.Policy.Slots.Of("variables." + name)
	if !ok || slot.Kind != plan.VariableSlot {
		return nil, fmt.Errorf("the policy %s has no variable %q", in.Policy.ID(), name)
	}
	in.Shared = nil
	ev := plainly(ctx, in)
	defer ev.meter.Close()
	if ev.object == nil && !in.Policy.Primary.Optional {
		return nil, fmt.Errorf("there is no %s %s that the policy %s decides about", in.Policy.Primary.Kind, in.Key, in.Policy.ID())
	}
	return ev.reader.variable(slot.Index)
}
