package extender_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/test/extender"
)

func TestValidation(t *testing.T) {
	t.Parallel()
	const scoring, narrowing = "/v1/lvg/filter-and-score", "/v1/lvg/narrow-reservation"
	score := func(id, ttl, size, pools string) string {
		return fmt.Sprintf(`{"reservationID":%s,"reservationTTL":%s,"size":%s,"lvgs":%s}`, id, ttl, size, pools)
	}
	narrow := func(id, ttl, pool string) string {
		return fmt.Sprintf(`{"reservationID":%s,"reservationTTL":%s,"lvg":%s}`, id, ttl, pool)
	}
	for name, tc := range map[string]struct {
		method, path, body string
		want               int
	}{
		"fine":                       {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"a"}]`), 200},
		"fields of the future":       {"POST", scoring, `{"more":1,` + score(`"x"`, `"2s"`, `1`, `[{"name":"a"}]`)[1:], 200},
		"to be got":                  {"GET", scoring, "", 405},
		"to be put":                  {"PUT", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"a"}]`), 405},
		"no such path":               {"POST", "/v1/lvg", "", 404},
		"nothing":                    {"POST", scoring, "", 400},
		"no JSON":                    {"POST", scoring, "{", 400},
		"something behind it":        {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"a"}]`) + "{}", 400},
		"another type":               {"POST", scoring, score(`"x"`, `"2s"`, `"1"`, `[{"name":"a"}]`), 400},
		"a fraction":                 {"POST", scoring, score(`"x"`, `"2s"`, `1.5`, `[{"name":"a"}]`), 400},
		"no reservation":             {"POST", scoring, score(`""`, `"2s"`, `1`, `[{"name":"a"}]`), 400},
		"no pools":                   {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[]`), 400},
		"null for pools":             {"POST", scoring, score(`"x"`, `"2s"`, `1`, `null`), 400},
		"a pool without a name":      {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"a"},{"thinPoolName":"t"}]`), 400},
		"no size":                    {"POST", scoring, score(`"x"`, `"2s"`, `0`, `[{"name":"a"}]`), 400},
		"a negative size":            {"POST", scoring, score(`"x"`, `"2s"`, `-1`, `[{"name":"a"}]`), 400},
		"no time":                    {"POST", scoring, score(`"x"`, `""`, `1`, `[{"name":"a"}]`), 400},
		"a time without a unit":      {"POST", scoring, score(`"x"`, `"2"`, `1`, `[{"name":"a"}]`), 400},
		"a negative time":            {"POST", scoring, score(`"x"`, `"-2s"`, `1`, `[{"name":"a"}]`), 400},
		"too large":                  {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"`+strings.Repeat("a", 10<<20)+`"}]`), 413},
		"large":                      {"POST", scoring, score(`"x"`, `"2s"`, `1`, `[{"name":"`+strings.Repeat("a", 9<<20)+`"}]`), 200},
		"a confirmation":             {"POST", narrowing, narrow(`"x"`, `"2s"`, `{"name":"a"}`), 200},
		"a confirmation, to be got":  {"GET", narrowing, "", 405},
		"... that is no JSON":        {"POST", narrowing, "x", 400},
		"... without a reservation":  {"POST", narrowing, narrow(`""`, `"2s"`, `{"name":"a"}`), 400},
		"... without a name":         {"POST", narrowing, narrow(`"x"`, `"2s"`, `{"thinPoolName":"t"}`), 400},
		"... without a pool":         {"POST", narrowing, narrow(`"x"`, `"2s"`, `null`), 400},
		"... with a wrong time":      {"POST", narrowing, narrow(`"x"`, `"soon"`, `{"name":"a"}`), 400},
		"a fault to be got":          {"GET", "/control/fault", "", 405},
		"an unknown fault":           {"PUT", "/control/fault", `{"mode":"explode"}`, 400},
		"no fault":                   {"PUT", "/control/fault", `{}`, 400},
		"a negative number":          {"PUT", "/control/fault", `{"mode":"fail","times":-1}`, 400},
		"a fault's delay":            {"PUT", "/control/fault", `{"mode":"stall","delay":"soon"}`, 400},
		"a fault":                    {"PUT", "/control/fault", `{"mode":"none"}`, 204},
		"the state to be put":        {"PUT", "/control/state", `{}`, 405},
		"capacities":                 {"PUT", "/control/capacity", `[]`, 204},
		"capacities that are none":   {"PUT", "/control/capacity", `{}`, 400},
		"a capacity without a name":  {"PUT", "/control/capacity", `[{"size":1}]`, 400},
		"a capacity of less than 0":  {"PUT", "/control/capacity", `[{"name":"a","size":-1}]`, 400},
		"a capacity that is twofold": {"PUT", "/control/capacity", `[{"name":"a","size":1},{"name":"a","size":2}]`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]int64{"a": 10})
			if status, text := w.ask(tc.method, tc.path, tc.body); status != tc.want {
				t.Errorf("got %d %.200s, want %d", status, text, tc.want)
			}
			if tc.want != 200 && w.reserved() != "" {
				t.Error("something is reserved")
			}
		})
	}
}

// TestState is the document that a demonstration reads.
func TestState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ask("PUT", "/control/capacity", `[{"name":"b","size":10},{"name":"a","thinPoolName":"t","size":100,"used":20}]`)
	w.score("x", "2s", 5, "a/t", "b", "c")
	w.ask("POST", "/v1/lvg/narrow-reservation", "{}") // refused
	w.ask("PUT", "/control/fault", `{"mode":"stall","times":2,"delay":"3s"}`)
	status, got := w.ask("GET", "/control/state", "")
	const want = `{"capacities":[{"name":"a","thinPoolName":"t","size":100,"used":20},{"name":"b","size":10,"used":0}],` +
		`"reservations":[{"id":"x","pools":[{"name":"a","thinPoolName":"t"},{"name":"b"}],"size":5,"expires":"2026-03-01T12:00:02Z"}],` +
		`"requests":{"filter-and-score":1,"narrow-reservation":1},` +
		`"recorded":[{"at":"2026-03-01T12:00:00Z","endpoint":"filter-and-score","reservationID":"x","lvgs":3},` +
		`{"at":"2026-03-01T12:00:00Z","endpoint":"narrow-reservation","reservationID":"","lvgs":1}],` +
		`"fault":{"mode":"stall","times":2,"delay":"3s"}}`
	if diff := cmp.Diff(want, got); status != 200 || diff != "" {
		t.Errorf("%d -want +got:\n%s", status, diff)
	}
	if _, empty := newWorld(t, nil).ask("GET", "/control/state", ""); strings.Contains(empty, "null") {
		t.Errorf("empty lists are null: %s", empty)
	}
}

// TestCapacityFile reads what the program is given.
func TestCapacityFile(t *testing.T) {
	t.Parallel()
	got, err := extender.ParseCapacity([]byte(`[{"name":"a","size":10,"used":1},{"name":"a","thinPoolName":"t","size":5}]`))
	want := map[extender.Pool]extender.Capacity{at("a"): {Size: 10, Used: 1}, at("a/t"): {Size: 5}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v -want +got:\n%s", err, diff)
	}
	if _, err := extender.ParseCapacity([]byte(`{`)); err == nil {
		t.Error("a broken file is read")
	}
}

// TestRecorded: the last thousand are kept, all are counted.
func TestRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 10})
	for i := range 1005 {
		w.score(fmt.Sprintf("x-%d", i), "2s", 1, "a")
	}
	state := w.State()
	first, last := state.Recorded[0], state.Recorded[len(state.Recorded)-1]
	if len(state.Recorded) != 1000 || first.ReservationID != "x-5" || last.ReservationID != "x-1004" || state.Requests[extender.FilterAndScore] != 1005 {
		t.Errorf("%d are kept, from %s to %s; counted are %v", len(state.Recorded), first.ReservationID, last.ReservationID, state.Requests)
	}
}
