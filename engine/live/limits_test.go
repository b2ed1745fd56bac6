package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
)

// counting reads all Nodes.
const counting = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: count}
spec:
  for: {apiVersion: v1, kind: Namespace}
  inputs: [{name: nodes, apiVersion: v1, kind: Node}]
  rules:
    - {name: count, do: [{labels: {set: {nodes: "${string(size(inputs.nodes.filter(n, n.?spec.unschedulable.orValue(false))))}"}}}]}
`

// counted returns the controllers of a world with some Nodes, which are counted.
func counted(t *testing.T, nodes int) Controllers { return running(t, counting, nodes) }

func running(t *testing.T, policy string, nodes int) Controllers {
	t.Helper()
	objects := []simulate.Object{fixture.Object("v1", "Namespace", "", "a")}
	for n := range nodes {
		objects = append(objects, fixture.Object("v1", "Node", "", fmt.Sprint("n", n)))
	}
	log := &record.Log{Size: 10}
	sim := fixture.Simulation(t, fixture.Compiled(t, policy), objects, log)
	sim.Settle(t.Context())
	return Controllers{Log: log, Group: sim.Group(), Guard: guard.New(nil).Assuming()}
}

func ask(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?policy=count&name=a&policies=p.yaml", http.NoBody))
	return w
}

// TestSizeOfAnswers: an answer that would be too large is shortened and says so; a
// test cannot be, and is refused with what to do.
func TestSizeOfAnswers(t *testing.T) {
	t.Parallel()
	controllers := counted(t, 2000)
	current := func() (Controllers, bool) { return controllers, true }
	const most = 32 << 10
	if all := ask(t, newHandler(current, limits{bytes: 16 << 20, atOnce: 1}), Path); all.Body.Len() <= most {
		t.Fatalf("the answer has %d bytes: it is no case for this test", all.Body.Len())
	}
	small := newHandler(current, limits{bytes: most, atOnce: 1})
	w := ask(t, small, Path)
	var got Answer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d: %v", w.Code, err)
	}
	const envelope = 100
	left := got.Decision.LeftOff
	if w.Body.Len() > most+envelope || len(left) != 1 || left[0].List != "reads" || left[0].Count+len(got.Decision.Reads) != 2001 || len(got.Decision.Reads) == 0 {
		t.Errorf("%d bytes, %d reads, left off %v", w.Body.Len(), len(got.Decision.Reads), left)
	}
	for path, want := range map[string]string{Path: "without its lists", CapturePath: "at most 200 are sent"} {
		if w := ask(t, newHandler(current, limits{bytes: 200, atOnce: 1}), path); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestAnswersAtOnce: beyond so many at once whoever asks is told to ask again, and is
// answered when the others are done.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	controllers := counted(t, 1)
	entered, leave := make(chan struct{}), make(chan struct{})
	h := newHandler(func() (Controllers, bool) {
		entered <- struct{}{}
		<-leave
		return controllers, true
	}, limits{bytes: 1 << 20, atOnce: 2})
	done := make(chan int)
	begin := func() { go func() { done <- ask(t, h, Path).Code }() }
	begin()
	begin()
	<-entered
	<-entered
	for _, path := range []string{Path, CapturePath} {
		if w := ask(t, h, path); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "ask again in a second") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	close(leave)
	for range 2 {
		if code := <-done; code != http.StatusOK {
			t.Errorf("one of the first two: %d", code)
		}
	}
	begin()
	<-entered
	if code := <-done; code != http.StatusOK {
		t.Errorf("after them: %d", code)
	}
}

// asking asks a builtin about each Namespace.
const asking = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: count}
spec:
  for: {apiVersion: v1, kind: Namespace}
  rules:
    - name: choose
      do:
        - select:
            candidates: [{as: c, in: '["x"]'}]
            summary: "${total}"
            pipeline:
              - call: extender.filterAndScore
                with: {reservationID: "${key.name}", ttl: "${duration('1m')}", size: "${1}"}
                candidate: {name: "${c}", thinPoolName: ""}
            then: [{labels: {set: {chosen: "yes"}}}]
            otherwise: [{labels: {set: {chosen: "no"}}}]
`

// TestCalls: the calls of the decisions that are kept, the oldest first, as many as
// fit.
func TestCalls(t *testing.T) {
	t.Parallel()
	controllers := running(t, asking, 0)
	get := func(most int) (out record.Calls) {
		w := ask(t, newHandler(func() (Controllers, bool) { return controllers, true }, limits{bytes: most, atOnce: 1}), AnswersPath)
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK || w.Body.Len() > most {
			t.Fatalf("%d, %v: %s", w.Code, err, w.Body)
		}
		return out
	}
	all := get(1 << 20).Calls
	if len(all) == 0 || all[0].Builtin != "extender.filterAndScore" || all[0].Response == nil {
		t.Fatalf("%+v", all)
	}
	if none := get(20).Calls; len(none) != 0 {
		t.Errorf("%+v", none)
	}
}
