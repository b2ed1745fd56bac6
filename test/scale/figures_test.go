package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const metrics = `# TYPE edict_evaluations_total counter
edict_evaluations_total{policy="a"} 300
edict_evaluations_total{policy="b"} 12
# TYPE edict_effects_total counter
edict_effects_total{policy="a",result="written"} 7
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 1.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.048576e+08
`

// TestRead: series of a metric are added up, and a metric that is not there is 0.
func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read(strings.NewReader(metrics))
	if want := (figures{evaluations: 312, writes: 7, cpu: 1.5, resident: 100 << 20}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := read(strings.NewReader("process_cpu_seconds_total 2\n")); err != nil || got != (figures{}) && got != (figures{cpu: 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := read(strings.NewReader("{")); err == nil {
		t.Error("no error for what is no metrics")
	}
}

// TestFigures: a process that does not answer is not taken for one that has done nothing.
func TestFigures(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, metrics) }))
	t.Cleanup(server.Close)
	p := &process{metrics: strings.TrimPrefix(server.URL, "http://")}
	if got, err := p.figures(t.Context()); err != nil || got.evaluations != 312 {
		t.Errorf("%+v, %v", got, err)
	}
	p.metrics = "127.0.0.1:1"
	if _, err := p.figures(t.Context()); !errors.Is(err, errNotUp) {
		t.Errorf("%v, want that it is not up", err)
	}
}

// TestSince: what a process takes now is not what it has done.
func TestSince(t *testing.T) {
	t.Parallel()
	got := figures{evaluations: 7, writes: 4, cpu: 3, resident: 9}.since(figures{evaluations: 5, writes: 1, cpu: 1, resident: 8})
	if want := (figures{evaluations: 2, writes: 3, cpu: 2, resident: 9}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
