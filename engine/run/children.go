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
	return newChild(o, "rego", "the process that evaluates Rego", 0, func(reason child.Reason) {
		if reason == "" {
			observe.RegoStarts.Inc()
			observe.RegoRunning.Set(1)
			return
		}
		observe.RegoEnds.WithLabelValues(string(reason)).Inc()
		observe.RegoRunning.Set(0)
	})
}

// newCompiler returns the process that compiles new texts and runs their tests, which starts
// with the first of them.
func newCompiler(o Options) *child.Child {
	return newChild(o, "policies", "the process that compiles policies", time.Minute, func(child.Reason) {})
}

// newChild returns a process with a name in lists of processes. Its starts and ends are logged,
// and observed: an end with a reason.
func newChild(o Options, name, process string, idle time.Duration, seen func(child.Reason)) *child.Child {
	log := o.Log.With("process", process)
	return child.New(child.Options{
		Process: process, Command: append(slices.Clip(o.ChildCommand), name), Memory: o.ChildMemory, Idle: idle,
		Started: func(pid int) {
			seen("")
			log.Info("a process has started", "pid", pid)
		},
		Ended: func(pid int, reason child.Reason, detail string) {
			seen(reason)
			if reason == child.Stopped {
				log.Info("the process was ended: nothing waits for it", "pid", pid)
				return
			}
			log.Warn("the process has ended; the next request starts another", "pid", pid, "reason", string(reason), "detail", detail)
		},
	})
}
