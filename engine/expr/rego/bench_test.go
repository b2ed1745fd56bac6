package rego

import (
	"testing"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// decisionInput is what a decision table of six rules reads.
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
	return of(map[string]any{
		"nodeReady": true, "schedulable": true, "kernel": "6.1.0-18-amd64", "bootID": "boot-2",
		"readySince": "2026-01-01T00:00:00Z", "spec": entry(), "status": status,
	})
}

func BenchmarkDecisionTable(b *testing.B) {
	library, problems, _ := Compile(Local(), []Module{shipped(b)})
	if library == nil {
		b.Fatal(problems)
	}
	q, input := mustQuery(b, library, "data.kmm.nmc.decision"), decisionInput()
	b.ReportAllocs()
	var steps uint64
	for b.Loop() {
		meter := expr.NewMeter(b.Context())
		if _, err := q.Eval(b.Context(), meter, now, input); err != nil {
			b.Fatal(err)
		}
		steps = meter.Spent()
	}
	b.ReportMetric(float64(steps), "units")
}

// BenchmarkStep says what a step takes: MaxSteps of them must be well below
// expr.RunTime.
func BenchmarkStep(b *testing.B) {
	items := make([]any, 100)
	for i := range items {
		items[i] = int64(i)
	}
	q, input := mustQuery(b, mustCompile(b, "x := count([1 | some a in input; some c in input; a == c])"), "data.p.x"), of(items)
	var steps uint64
	for b.Loop() {
		meter := expr.NewMeter(b.Context())
		if _, err := q.Eval(b.Context(), meter, now, input); err != nil {
			b.Fatal(err)
		}
		steps += meter.Spent() / stepCost
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}

func BenchmarkCompile(b *testing.B) {
	m := shipped(b)
	for b.Loop() {
		_, _, _ = Compile(Local(), []Module{m})
	}
}

func BenchmarkToTerm(b *testing.B) {
	input := decisionInput()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := toTerm(input); err != nil {
			b.Fatal(err)
		}
	}
}
