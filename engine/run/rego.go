package run

import (
	"time"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/check"
)

// evaluator returns what compiles and runs the Rego of policies.
func evaluator(o Options) rego.Evaluator {
	if len(o.RegoCommand) == 0 {
		return rego.Local()
	}
	return child.New(child.Options{
		Command: o.RegoCommand, Memory: o.ChildMemory,
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

// compiler returns the process that compiles new texts, which starts with the first of them.
func compiler(o Options) *child.Child {
	return child.New(child.Options{
		Process: "the process that compiles policies", Command: o.CompilerCommand, Memory: o.ChildMemory, Time: check.JudgeTime, Idle: time.Minute,
		Started: func(pid int) { o.Log.Info("a process that compiles policies has started", "pid", pid) },
		Ended: func(pid int, reason child.Reason, detail string) {
			if reason == child.Stopped {
				o.Log.Info("the process that compiles policies was ended: no new text waits for it", "pid", pid)
				return
			}
			o.Log.Warn("the process that compiles policies has ended; the next new text starts another", "pid", pid, "reason", string(reason), "detail", detail)
		},
	})
}

// stopChildren ends the other processes, if there are some.
func (p *process) stopChildren() {
	if c, ok := p.rego.(*child.Child); ok {
		c.Close()
	}
	if p.compiler != nil {
		p.compiler.Close()
	}
}
