package eval

import (
	"context"

	"github.com/edict-dev/edict/engine/plan"
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
