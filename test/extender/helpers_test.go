package extender_test

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/test/extender"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin is the time at which tests begin.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a server with a clock that the test sets.
type world struct {
	*extender.Server
	t   *testing.T
	now time.Time
}

// at makes the pool of "<group>" or "<group>/<thin pool>".
func at(place string) extender.Pool {
	group, thin, _ := strings.Cut(place, "/")
	return extender.Pool{Name: group, ThinPool: thin}
}

// newWorld makes a server with free pools of a size.
func newWorld(t *testing.T, free map[string]int64) *world {
	t.Helper()
	w := &world{t: t, now: begin}
	capacity := map[extender.Pool]extender.Capacity{}
	for place, size := range free {
		capacity[at(place)] = extender.Capacity{Size: size}
	}
	w.Server = extender.New(extender.Config{Capacity: capacity, Now: func() time.Time { return w.now }})
	return w
}

// ask sends a request and returns the answer's status and body.
func (w *world) ask(method, path, body string) (int, string) {
	w.t.Helper()
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body)))
	text, _ := io.ReadAll(recorder.Result().Body)
	return recorder.Code, strings.TrimSuffix(string(text), "\n")
}

// score asks for scores and returns them as "a=7 b/t=3".
func (w *world) score(id, ttl string, size int64, places ...string) string {
	w.t.Helper()
	pools := []extender.Pool{}
	for _, place := range places {
		pools = append(pools, at(place))
	}
	status, text := w.ask("POST", "/v1/lvg/filter-and-score", marshal(w.t, map[string]any{
		"reservationID": id, "reservationTTL": ttl, "size": size, "lvgs": pools,
	}))
	var answer struct {
		Pools []extender.Scored `json:"lvgs"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 || answer.Pools == nil {
		w.t.Fatalf("the answer is %d %s", status, text)
	}
	var out []string
	for _, scored := range answer.Pools {
		out = append(out, place(scored.Pool)+"="+marshal(w.t, scored.Score))
	}
	return strings.Join(out, " ")
}

func (w *world) narrow(id, ttl, to string) {
	w.t.Helper()
	status, text := w.ask("POST", "/v1/lvg/narrow-reservation", marshal(w.t, map[string]any{
		"reservationID": id, "reservationTTL": ttl, "lvg": at(to),
	}))
	if status != 200 || text != "{}" {
		w.t.Fatalf("the answer is %d %s", status, text)
	}
}

// reserved returns the reservations as "id: a b/t for 10 until 2s".
func (w *world) reserved() string {
	var out []string
	for _, r := range w.State().Reservations {
		var places []string
		for _, p := range r.Pools {
			places = append(places, place(p))
		}
		out = append(out, r.ID+": "+strings.Join(places, " ")+" for "+marshal(w.t, r.Size)+" until "+r.Expires.Sub(begin).String())
	}
	return strings.Join(out, "; ")
}

func (w *world) after(d time.Duration) { w.now = begin.Add(d) }

func place(p extender.Pool) string {
	if p.ThinPool == "" {
		return p.Name
	}
	return p.Name + "/" + p.ThinPool
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
