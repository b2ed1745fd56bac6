package controller

import (
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/edict-dev/edict/engine/eval"
)

// order is the order in which the keys of a policy are reconciled. Keys of a wave (all
// keys, after the start or an edit) wait for those that something
// has happened to, but every few turns one of them is next: a busy cluster does not hold
// a wave up for ever.
type order struct {
	mu         sync.Mutex
	live, wave []eval.Key
	// queued are the keys in the queue; true is a live one. An entry of wave that says
	// otherwise is passed over.
	queued map[eval.Key]bool
	// marked are keys of which the next addition is that of a wave.
	marked map[eval.Key]bool
	turn   int
}

// turnOfWave is how often a key of a wave is next although others wait.
const turnOfWave = 4

var _ workqueue.Queue[eval.Key] = (*order)(nil)

func newOrder() *order { return &order{queued: map[eval.Key]bool{}, marked: map[eval.Key]bool{}} }

// mark says that the next addition of a key is that of a wave.
func (o *order) mark(key eval.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.marked[key] = true
}

// unmark returns whether an addition of a key is that of a wave. The caller has the lock.
func (o *order) unmark(key eval.Key) (wave bool) {
	wave = o.marked[key]
	delete(o.marked, key)
	return wave
}

// Push implements workqueue.Queue.
func (o *order) Push(key eval.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unmark(key) {
		o.wave, o.queued[key] = append(o.wave, key), false
		return
	}
	o.live, o.queued[key] = append(o.live, key), true
}

// Touch implements workqueue.Queue: a key of a wave that something happens to waits no
// longer.
func (o *order) Touch(key eval.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if live, queued := o.queued[key]; !o.unmark(key) && queued && !live {
		o.live, o.queued[key] = append(o.live, key), true
	}
}

// Len implements workqueue.Queue.
func (o *order) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queued)
}

// Pop implements workqueue.Queue.
func (o *order) Pop() eval.Key {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passOver()
	o.turn++
	from := &o.live
	if len(o.wave) > 0 && (len(o.live) == 0 || o.turn%turnOfWave == 0) {
		from = &o.wave
	}
	key := (*from)[0]
	*from = (*from)[1:]
	delete(o.queued, key)
	return key
}

// passOver drops the entries at the head of the wave that are not in it any more.
func (o *order) passOver() {
	for len(o.wave) > 0 {
		if live, queued := o.queued[o.wave[0]]; queued && !live {
			return
		}
		o.wave = o.wave[1:]
	}
}
