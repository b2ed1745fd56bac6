package brakes

import (
	"maps"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/observe"
)

// seriesOf returns the series of the brakes that have a value.
func seriesOf(states map[string]*brake.State) map[observe.Series]float64 {
	out := map[observe.Series]float64{}
	for policy, s := range states {
		for i := range s.Pauses {
			out[observe.SeriesOf(observe.Paused, policy, string(s.Pauses[i].Reason))] = 1
		}
		for reason, n := range s.Kept {
			out[observe.SeriesOf(observe.KeptBack, policy, string(reason))] = float64(n)
		}
		out[observe.SeriesOf(observe.Paced, policy)] = float64(len(s.Paced))
		out[observe.SeriesOf(observe.Holds, policy)] = float64(len(s.Holds))
	}
	maps.DeleteFunc(out, func(_ observe.Series, value float64) bool { return value == 0 })
	return out
}
