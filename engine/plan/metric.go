package plan

import (
	"slices"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Metric exports a happening of the engine under a name of the policy's own.
type Metric struct {
	Name, Help string
	Of         Happening
	// Rule narrows it to one rule; "" means all.
	Rule   string
	Labels []Label
	// Buckets are those of a histogram.
	Buckets []float64
}

// Label is a label of a metric; its value is computed for the key that the
// happening is about.
type Label struct {
	Name  string
	Value *cel.Template
}

// Happening is something that can be counted.
type Happening string

// The happenings.
const (
	EffectWritten    Happening = "effect.written"
	EffectFailed     Happening = "effect.failed"
	RuleDebounced    Happening = "rule.debounced"
	RuleRetried      Happening = "rule.retried"
	RuleDropped      Happening = "rule.dropped"
	WatchError       Happening = "watch.error"
	WatchReconnect   Happening = "watch.reconnect"
	LeaderState      Happening = "leader.state"
	LeaderTransition Happening = "leader.transition"
	LeaderAcquire    Happening = "leader.acquire"
	QueuePending     Happening = "queue.pending"
	BuildInfo        Happening = "build.info"
)

// Happenings are all of them.
var Happenings = []Happening{
	EffectWritten, EffectFailed, RuleDebounced, RuleRetried, RuleDropped, WatchError, WatchReconnect,
	LeaderState, LeaderTransition, LeaderAcquire, QueuePending, BuildInfo,
}

// Keyed reports whether a happening is about a key, so that its labels can be
// computed.
func (h Happening) Keyed() bool {
	return slices.Contains([]Happening{EffectWritten, EffectFailed, RuleDebounced, RuleRetried}, h)
}
