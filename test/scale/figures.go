package main

import (
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// figures are what a process says of itself.
type figures struct {
	evaluations, writes float64
	// cpu is in seconds, resident in bytes.
	cpu, resident float64
}

// read reads the figures out of metrics.
func read(metrics io.Reader) (f figures, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(metrics)
	if err != nil {
		return f, err
	}
	for name, into := range map[string]*float64{
		"edict_evaluations_total": &f.evaluations, "edict_effects_total": &f.writes,
		"process_cpu_seconds_total": &f.cpu, "process_resident_memory_bytes": &f.resident,
	} {
		for _, m := range families[name].GetMetric() {
			*into += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return f, nil
}

// since returns what was done since earlier figures of the same process. What it takes
// now stays.
func (f figures) since(earlier figures) figures {
	f.evaluations, f.writes, f.cpu = f.evaluations-earlier.evaluations, f.writes-earlier.writes, f.cpu-earlier.cpu
	return f
}
