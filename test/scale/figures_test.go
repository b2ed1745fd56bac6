package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const metrics = `# TYPE edict_evaluations_total counter
edict_evaluations_total{policy="a"} 300
edict_evaluations_total{policy="b"} 12
# TYPE edict_effects_total counter
edict_effects_total{policy="a",result="written"} 7
# TYPE edict_shard_held gauge
edict_shard_held{shard="0"} 1
edict_shard_held{shard="1"} 0
edict_shard_held{shard="2"} 1
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 1.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.048576e+08
`

// TestRead: series of a metric are added up, and a metric that is not there is 0.
func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read(strings.NewReader(metrics))
	if want := (figures{evaluations: 312, writes: 7, cpu: 1.5, resident: 100 << 20, shards: 2}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := read(strings.NewReader("process_cpu_seconds_total 2\n")); err != nil || got != (figures{}) && got != (figures{cpu: 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := read(strings.NewReader("{")); err == nil {
		t.Error("no error for what is no metrics")
	}
}

// serve makes a process whose metrics are those of a server.
func serve(t *testing.T, name string, evaluations, shards int) *process {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE edict_evaluations_total counter\nedict_evaluations_total %d\n# TYPE edict_shard_held gauge\nedict_shard_held %d\n", evaluations, shards)
	}))
	t.Cleanup(server.Close)
	return &process{name: name, metrics: strings.TrimPrefix(server.URL, "http://"), started: time.Now()}
}

// TestFleet: the figures are those of all processes, and one that does not answer is not
// taken for one that has done nothing.
func TestFleet(t *testing.T) {
	t.Parallel()
	f := &fleet{sharing: true, processes: []*process{serve(t, "a", 10, 2), serve(t, "b", 20, 5)}}
	all, err := f.figures(t.Context())
	if err != nil || total(all) != (figures{evaluations: 30, shards: 7}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if f.held(all) == nil {
		t.Error("7 of 8 shards are held: no error")
	}
	if all[0].shards = 3; f.held(all) != nil {
		t.Error("all shards are held: an error")
	}
	if i, had, err := f.largest(t.Context()); i != 1 || had.shards != 5 || err != nil {
		t.Errorf("process %d holds the most shards, %v; %v", i, had.shards, err)
	}
	f.processes = append(f.processes, &process{metrics: "127.0.0.1:1"})
	if _, err := f.figures(t.Context()); err == nil {
		t.Error("no error of a process that does not answer")
	}
	if known := f.known(t.Context()); len(known) != 2 || known[f.processes[1]].figures.evaluations != 20 {
		t.Errorf("%v", known)
	}
}

// TestDone: a process that was started since has done all that it says, another one what is
// more than before.
func TestDone(t *testing.T) {
	t.Parallel()
	same, restarted, fresh := &process{started: time.Unix(1, 0)}, &process{started: time.Unix(1, 0)}, &process{started: time.Unix(3, 0)}
	r := settling{
		fleet:  &fleet{processes: []*process{same, restarted, fresh}},
		before: map[*process]sample{same: {same.started, figures{evaluations: 5, cpu: 1}}, restarted: {restarted.started, figures{evaluations: 5, cpu: 1}}},
	}
	restarted.started = time.Unix(2, 0)
	now := figures{evaluations: 7, cpu: 3, resident: 9, shards: 2}
	got := r.done([]figures{now, now, now})
	if want := (figures{evaluations: 2, cpu: 2, resident: 9, shards: 2}); got[0] != want || got[1] != now || got[2] != now {
		t.Errorf("%+v", got)
	}
}
