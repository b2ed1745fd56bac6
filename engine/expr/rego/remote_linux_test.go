package rego_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
)

// BenchmarkQuery says what a query takes in processor time, of both processes
// together: by the clock they work in turn.
func BenchmarkQuery(b *testing.B) {
	text, err := os.ReadFile("../../../policies/kmm-node-modules.rego")
	if err != nil {
		b.Fatal(err)
	}
	shipped := rego.Module{Name: "shipped.rego", Text: string(text)}
	small := rego.Module{Name: "p.rego", Text: "package p\nx := input.a"}
	for _, c := range []struct {
		name, query string
		module      rego.Module
		input       value.Value
	}{
		{"small", "data.p.x", small, value.Freeze(map[string]any{"a": int64(1)}, nil, value.KeepAll)},
		{"shipped", "data.kmm.nmc.decision", shipped, decisionInput()},
		{"large", "data.p.x", rego.Module{Name: "l.rego", Text: "package p\nx := count(input)"}, list(10_000)},
	} {
		b.Run(c.name+"/in process", func(b *testing.B) { measure(b, rego.Local(), c.module, c.query, c.input, nil) })
		b.Run(c.name+"/child", func(b *testing.B) {
			var s seen
			measure(b, newRemote(b, &s, rego.MaxTime, nil), c.module, c.query, c.input, func() time.Duration { return processorTime(b, s.last()) })
		})
	}
}

func measure(b *testing.B, in rego.Evaluator, m rego.Module, text string, input value.Value, others func() time.Duration) {
	library, problems, _ := rego.Compile(in, []rego.Module{m})
	if library == nil {
		b.Fatal(problems)
	}
	q, problem := library.Query(text, document.Position{})
	if problem != nil {
		b.Fatal(problem)
	}
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		t := time.Duration(u.Utime.Nano() + u.Stime.Nano())
		if others != nil {
			t += others()
		}
		return t
	}
	before := spent()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := eval(b.Context(), q, input); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(spent()-before)/float64(b.N)/1000, "cpu-µs/op")
}

// decisionInput is what the decision table of the shipped policy reads.
func decisionInput() value.Value {
	entry := func() map[string]any {
		return map[string]any{
			"namespace": "ns", "name": "module",
			"config": map[string]any{
				"kernelVersion": "6.1.0-18-amd64", "containerImage": "registry/image:6.1.0",
				"modprobe": map[string]any{"moduleName": "m", "dirName": "/opt", "args": []any{"a", "b"}},
			},
		}
	}
	status := entry()
	status["lastTransitionTime"], status["bootId"] = "2026-01-02T00:00:00Z", "boot-1"
	return value.Freeze(map[string]any{
		"nodeReady": true, "schedulable": true, "kernel": "6.1.0-18-amd64", "bootID": "boot-2",
		"readySince": "2026-01-01T00:00:00Z", "spec": entry(), "status": status,
	}, nil, value.KeepAll)
}

// processorTime returns what a process has taken, by its own clock: see
// clock_getcpuclockid(3).
func processorTime(b *testing.B, pid int) time.Duration {
	const schedule = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedule), &t); err != nil {
		b.Skip(err)
	}
	return time.Duration(t.Nano())
}
