package reconcile

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// asking finds no place and writes so. MORE are other actions of the rule, REQUEST is
// what it asks with.
const asking = `  inputs: [{name: spaces, apiVersion: v1, kind: Namespace}]
  rules:
    - name: place
      do:
        - log: {message: "${string(size(inputs.spaces))}"}
        - select:
            candidates: [{as: c, in: "['a', 'b']"}]
            pipeline: [{call: extender.filterAndScore, with: {reservationID: "${REQUEST}", ttl: "${duration('1s')}", size: 1}, candidate: {name: "${c}"}}]
            otherwise: [{labels: {set: {place: none}}}]
MORE`

func askingWith(request, more string) string {
	return strings.NewReplacer("REQUEST", request, "MORE", more).Replace(asking)
}

// placeless is the policy as most cases need it.
var placeless = askingWith("object.metadata.?labels[?'request'].orValue('r')", "")

// asked counts what is asked, and has no place for anything.
type asked struct {
	calls int
	err   error
}

func (a *asked) Answer(_ context.Context, q *expr.Request) (*expr.Response, error) {
	a.calls++
	return &expr.Response{Verdicts: make([]expr.Verdict, q.Candidates.Len())}, a.err
}

// oneNode is a server with one node, which the read model learns from only when told.
type oneNode struct {
	late
	version int
	labels  map[string]any
	status  any
	err     error
	// during is done while the server is asked to write; nil is nothing.
	during func()
}

func (s *oneNode) Patch(_ context.Context, p apply.Patch) (world.Version, error) {
	if s.err != nil {
		return world.Version{}, s.err
	}
	if s.during != nil {
		s.during()
	}
	if labels, ok := value.Plain(value.Path(p.Body, "metadata", "labels")).(map[string]any); ok {
		maps.Copy(s.labels, labels)
	}
	if status := value.Path(p.Body, "status"); status != nil {
		s.status = value.Plain(status)
	}
	s.version++
	return world.Version{ResourceVersion: strconv.Itoa(s.version)}, nil
}

// echoing is a policy that asks about a node and hears of it what it wrote.
type echoing struct {
	t       *testing.T
	group   *Group
	c       *Controller
	server  *oneNode
	answers *asked
	now     time.Time
}

var theNode = eval.Key{Name: "n"}

func newEchoing(t *testing.T, spec string) *echoing {
	t.Helper()
	p, b := compiled(t, spec)
	e := &echoing{t: t, server: &oneNode{version: 10, labels: map[string]any{}}, answers: &asked{}, now: noon}
	e.group = newGroup(world.NewStore(), e.server, b.Schemas)
	e.group.Answers = e.answers
	e.c = e.group.Add(p)
	e.back()
	return e
}

// back tells of the node as it is on the server.
func (e *echoing) back() { e.backAt(e.server.version) }

func (e *echoing) backAt(version int) {
	metadata := map[string]any{"name": theNode.Name, "resourceVersion": strconv.Itoa(version), "labels": maps.Clone(e.server.labels)}
	e.feed("Node", map[string]any{"metadata": metadata, "status": e.server.status})
}

// touched is a change of the node by another writer.
func (e *echoing) touched(label string) {
	e.server.version++
	e.server.labels[label] = "x"
}

func (e *echoing) namespace() {
	e.feed("Namespace", map[string]any{"metadata": map[string]any{"name": "s", "uid": "s", "resourceVersion": "90"}})
}

func (e *echoing) feed(kind string, o map[string]any) {
	o["apiVersion"], o["kind"] = "v1", kind
	for _, s := range e.group.AllSources() {
		if s.Kind == kind {
			e.group.Put(e.t.Context(), s, o)
		}
	}
}

// reconcile decides, after which so many calls must have been made in all.
func (e *echoing) reconcile(calls int) Result {
	e.t.Helper()
	r := e.c.Reconcile(e.t.Context(), theNode, e.now)
	if e.answers.calls != calls {
		e.t.Errorf("%d calls were made, want %d", e.answers.calls, calls)
	}
	return r
}

// TestEcho: a key that only its own writes have woken is decided about without asking
// what it has asked.
func TestEcho(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, placeless)
	first := e.reconcile(1)
	if len(first.Outcomes) != 1 || first.Decision.Calls[0].AnsweredBefore {
		t.Fatalf("%+v", first)
	}
	e.back()
	r := e.reconcile(1)
	if call := first.Decision.Calls[0]; call.Request == nil || call.AnsweredBefore {
		t.Error("the decision before has changed")
	}
	if r.Decision == nil || len(r.Outcomes) > 0 || r.Err != nil || r.Final != nil || len(r.Decision.Calls) != 1 || !r.Decision.Calls[0].AnsweredBefore {
		t.Fatalf("%+v", r)
	}
	if doc := r.Record.Render(t.Context()); !doc.Calls[0].AnsweredBefore {
		t.Error("the record does not say that it was answered before")
	}
	if len(e.c.known.echoes.of) > 0 || e.c.known.echoes.bytes != 0 {
		t.Errorf("%d echoes with %d bytes are kept", len(e.c.known.echoes.of), e.c.known.echoes.bytes)
	}
	e.c.noteWakes([]eval.Key{theNode}, change{now: &world.Object{}})
	e.reconcile(2)
}

// TestNoEcho: whatever else has woken the key, calls are made.
func TestNoEcho(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]func(*echoing){
		"another object":           func(e *echoing) { e.back(); e.namespace() },
		"another object alone":     func(e *echoing) { e.backUnnoted(); e.namespace() },
		"another writer, at once":  func(e *echoing) { e.touched("y"); e.back() },
		"another writer, later":    func(e *echoing) { e.back(); e.touched("y"); e.back() },
		"nobody knows":             func(e *echoing) { e.backUnnoted() },
		"another version":          func(e *echoing) { e.server.version++; e.back() },
		"patience is over":         func(e *echoing) { e.back(); e.now = noon.Add(patience + 1) },
		"it was undone by others":  func(e *echoing) { e.back(); e.server.version++; e.back() },
		"the list of wakes is cut": func(e *echoing) { e.backTimes(maxWakes) },
		"something was deleted": func(e *echoing) {
			e.back()
			e.c.noteWakes([]eval.Key{theNode}, change{old: &world.Object{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEchoing(t, placeless)
			e.reconcile(1)
			tc(e)
			e.reconcile(2)
		})
	}
}

// backUnnoted is back for a change that nobody has noted yet.
func (e *echoing) backUnnoted() {
	e.back()
	e.c.known.wakes.take(theNode)
}

// backTimes notes the change so many times.
func (e *echoing) backTimes(n int) {
	e.back()
	w := e.c.known.wakes.of[theNode].changes[0]
	for range n - 1 {
		e.c.noteWakes([]eval.Key{theNode}, change{source: w.Source, old: w.Before, now: w.After})
	}
}

// TestEchoAtTheLimits: the last moment and the longest list that still count.
func TestEchoAtTheLimits(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, placeless)
	e.reconcile(1)
	e.backTimes(maxWakes - 1)
	e.now = noon.Add(patience)
	e.reconcile(1)
}

// withStatus writes the node and then its status, so that the first write comes back
// while the second is awaited.
var withStatus = statusWith("key.name")

func statusWith(request string) string {
	return askingWith(request, `    - name: tell
      do: [{condition: {type: Placed, status: "False", reason: "No", message: "no"}}]
`)
}

// awaiting has written the node and its status, of which the status has not come back.
func awaiting(t *testing.T, spec string) *echoing {
	t.Helper()
	e := newEchoing(t, spec)
	if r := e.reconcile(1); len(r.Outcomes) != 2 || r.Err != nil || r.Final != nil {
		t.Fatalf("%+v", r)
	}
	status := e.server.status
	e.server.status = nil
	e.backAt(11)
	if r := e.reconcile(1); r.Decision != nil || !r.Next.Equal(noon.Add(lookAgain)) {
		t.Fatal("it does not wait for its second write")
	}
	e.server.status = status
	return e
}

// TestEchoOfSeveralWrites: a key that waits for the rest of its writes is looked at again
// later. That is no reason to ask either, once.
func TestEchoOfSeveralWrites(t *testing.T) {
	t.Parallel()
	e := awaiting(t, withStatus)
	e.now = noon.Add(lookAgain / 2)
	e.reconcile(1) // it still waits, and is looked at as soon as before
	e.back()
	e.reconcile(1)
	e.now = noon.Add(lookAgain)
	e.reconcile(1) // it was to be looked at again
	e.reconcile(2)
}

// TestLookThatIsOff: without a look to come, being woken by nothing means that time has
// come, also a moment before the look.
func TestLookThatIsOff(t *testing.T) {
	t.Parallel()
	e := awaiting(t, withStatus)
	e.backUnnoted()
	e.now = noon.Add(lookAgain - 1)
	e.reconcile(2)
}

// TestLookAfterAFailure: a call that fails has no answer to give at the look that is still
// to come.
func TestLookAfterAFailure(t *testing.T) {
	t.Parallel()
	e := awaiting(t, statusWith("object.metadata.?labels[?'place'].orValue('r')"))
	e.back()
	e.answers.err = errors.New("no answer")
	if r := e.reconcile(2); r.Err == nil || len(e.c.known.echoes.of) > 0 {
		t.Errorf("%+v, %d echoes", r, len(e.c.known.echoes.of))
	}
}

// TestLookBesideAChange: a change is a reason to ask, also when the key was to be looked at
// again anyway.
func TestLookBesideAChange(t *testing.T) {
	t.Parallel()
	e := awaiting(t, withStatus)
	e.back()
	e.namespace()
	e.now = noon.Add(lookAgain)
	e.reconcile(2)
}

// TestEchoWhenDue: a key that is due at a time is decided about as ever from then on,
// also when its own write wakes it.
func TestEchoWhenDue(t *testing.T) {
	t.Parallel()
	for after, calls := range map[time.Duration]int{5*time.Second - 1: 1, 5 * time.Second: 2} {
		e := newEchoing(t, askingWith("key.name", "    - {name: later, when: \"elapsed(timestamp('2026-01-01T12:00:00Z'), duration('5s'))\", do: [{log: {message: due}}]}\n"))
		if r := e.reconcile(1); !r.Next.Equal(noon.Add(5 * time.Second)) {
			t.Fatalf("it is due at %v", r.Next)
		}
		e.now = noon.Add(after)
		e.back()
		e.reconcile(calls)
	}
}
