package run

import (
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/expr/rego/child"
	"github.com/edict-dev/edict/engine/observe"
)

// evaluator returns what compiles and runs the Rego of policies.
func evaluator(o Options) rego.Evaluator {
	if len(o.RegoCommand) == 0 {
		return rego.Local()
	}
	return child.New(child.Options{
		Command: o.RegoCommand, Memory: o.RegoMemory,
		Started: func(pid int) {
			observe.RegoStarts.Inc()
			observe.RegoRunning.Set(1)
			o.Log.Info("a process that evaluates Rego has started", "pid", pid)
		},
		Refused: observe.RegoRefused.Inc,
		Ended: func(pid int, reason child.Reason, detail string) {
			observe.RegoEnds.WithLabelValues(string(reason)).Inc()
			observe.RegoRunning.Set(0)
			if reason == child.Stopped {
				o.Log.Info("the process that evaluates Rego was ended: no evaluation waits for it", "pid", pid)
				return
			}
			o.Log.Warn("the process that evaluates Rego has ended; the next evaluation starts another", "pid", pid, "reason", string(reason), "detail", detail)
		},
	})
}

// forTests returns what runs the Rego of tests of policies: what comes of them must not
// depend on what was evaluated before.
func forTests(e rego.Evaluator) rego.Evaluator {
	if c, ok := e.(*child.Child); ok {
		return c.Unpaused()
	}
	return e
}

// stopRego ends the process that evaluates Rego, if there is one.
func stopRego(e rego.Evaluator) {
	if c, ok := e.(*child.Child); ok {
		c.Close()
	}
}
