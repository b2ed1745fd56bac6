// Package events records Events about ConfigMaps at a bounded rate.
package events

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
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
)

const (
	// eventBurst is how many Events about a ConfigMap are recorded at once,
	// eventPause how long the next one waits after that.
	eventBurst = 10
	eventPause = 5 * time.Second
)

// Recorder records Events at a bounded rate. client-go drops the excess silently;
// here the newest of the delayed Events is recorded, with the number of those
// before it.
type Recorder struct {
	recorder record.EventRecorder

	mu   sync.Mutex
	pace map[eventID]*rate.Limiter
	held map[eventID]*heldEvent
}

// eventID distinguishes what is delayed separately: an Event that a problem is
// solved does not replace the one about the problem.
type eventID struct {
	object corev1.ObjectReference
	kind   string
}

// NewEventRecorder returns a recorder that never drops an Event at the rate of a
// Recorder, and a function that stops it.
func NewEventRecorder(client kubernetes.Interface) (recorder record.EventRecorder, stop func()) {
	broadcaster := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{QPS: 1, BurstSize: 100, MaxEvents: 10_000}))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: apply.FieldManager}), broadcaster.Shutdown
}

type heldEvent struct {
	reason, text string
	before       int
}

// NewRecorder returns a Recorder that sends what it records to another recorder.
func NewRecorder(recorder record.EventRecorder) *Recorder {
	return &Recorder{recorder: recorder, pace: map[eventID]*rate.Limiter{}, held: map[eventID]*heldEvent{}}
}

// Add records an Event, or delays it. Kind is Normal or Warning.
func (e *Recorder) Add(object *corev1.ObjectReference, kind, reason, text string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, before := eventID{*object, kind}, 0
	if held := e.held[id]; held != nil {
		before = held.before + 1
	}
	e.held[id] = &heldEvent{reason: reason, text: text, before: before}
	e.record(now)
}

// Flush records the Events that were delayed for long enough.
func (e *Recorder) Flush(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record(now)
}

func (e *Recorder) record(now time.Time) {
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
			text = value.Cut(text, status.MaxEventMessage-len(suffix)) + suffix
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
