package run

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/value"
)

const (
	// eventBurst is how many Events about a ConfigMap are recorded at once,
	// eventPause how long the next one waits after that.
	eventBurst = 10
	eventPause = 5 * time.Second
)

// events records Events about ConfigMaps at a bounded rate. client-go drops what
// is too much without a word; here the newest of what is held back is recorded,
// with the number of those before it.
type events struct {
	recorder record.EventRecorder

	mu   sync.Mutex
	pace map[eventID]*rate.Limiter
	held map[eventID]*heldEvent
}

// eventID tells apart what is held back by itself: that something is well again
// does not take the place of what was wrong.
type eventID struct {
	object corev1.ObjectReference
	kind   string
}

// newRecorder records Events and never drops one at the rate above.
func newRecorder(client kubernetes.Interface) (recorder record.EventRecorder, stop func()) {
	broadcaster := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{QPS: 1, BurstSize: 100, MaxEvents: 10_000}))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: apply.FieldManager}), broadcaster.Shutdown
}

type heldEvent struct {
	reason, text string
	before       int
}

func newEvents(recorder record.EventRecorder) *events {
	return &events{recorder: recorder, pace: map[eventID]*rate.Limiter{}, held: map[eventID]*heldEvent{}}
}

// add records an Event, or holds it back for a while.
func (e *events) add(object *corev1.ObjectReference, kind, reason, text string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, before := eventID{*object, kind}, 0
	if held := e.held[id]; held != nil {
		before = held.before + 1
	}
	e.held[id] = &heldEvent{reason: reason, text: text, before: before}
	e.record(now)
}

// flush records what was held back for long enough.
func (e *events) flush(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record(now)
}

func (e *events) record(now time.Time) {
	for id, held := range e.held {
		if e.pace[id] == nil {
			e.pace[id] = rate.NewLimiter(rate.Every(eventPause), eventBurst)
		}
		if !e.pace[id].AllowN(now, 1) {
			continue
		}
		text := held.text
		if held.before > 0 {
			suffix := fmt.Sprintf(" (and %d changes before it)", held.before)
			text = value.Cut(text, maxText-len(suffix)) + suffix
		}
		e.recorder.Event(&id.object, id.kind, held.reason, text)
		delete(e.held, id)
	}
	for id, pace := range e.pace {
		if pace.TokensAt(now) >= eventBurst {
			delete(e.pace, id)
		}
	}
}
