package run

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/observe"
)

// newRego returns the process that compiles and runs the Rego of policies, which starts with
// the first of them. It is none of newCompiler: a new text is not to keep policies waiting.
func newRego(o Options) *child.Child {
	return newChild(o, "rego", child.Options{
		Process: "the process that evaluates Rego",
		Started: func(int) {
			observe.RegoStarts.Inc()
			observe.RegoRunning.Set(1)
		},
		Ended: func(_ int, reason child.Reason, _ string) {
			observe.RegoEnds.WithLabelValues(string(reason)).Inc()
			observe.RegoRunning.Set(0)
		},
	})
}

// newCompiler returns the process that compiles new texts, which starts with the first of
// them.
func newCompiler(o Options) *child.Child {
	return newChild(o, "policies", child.Options{
		Process: "the process that compiles policies", Idle: time.Minute, Started: func(int) {}, Ended: func(int, child.Reason, string) {},
	})
}

// newChild returns a process with a name in lists of processes, whose starts and ends are
// logged.
func newChild(o Options, name string, options child.Options) *child.Child {
	options.Command, options.Memory = append(slices.Clip(o.ChildCommand), name), o.ChildMemory
	log, started, ended := o.Log.With("process", options.Process), options.Started, options.Ended
	options.Started = func(pid int) {
		started(pid)
		log.Info("a process has started", "pid", pid)
	}
	options.Ended = func(pid int, reason child.Reason, detail string) {
		ended(pid, reason, detail)
		if reason == child.Stopped {
			log.Info("the process was ended: nothing waits for it", "pid", pid)
			return
		}
		log.Warn("the process has ended; the next request starts another", "pid", pid, "reason", string(reason), "detail", detail)
	}
	return child.New(options)
}
