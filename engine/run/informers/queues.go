package informers

import (
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
)

// Queue takes the keys to reconcile.
type Queue interface {
	Add(key eval.Key)
	// AddWave adds a key that nothing has happened to: those of Add overtake it.
	AddWave(key eval.Key)
}

// Queues are the work queues of the policies. Its zero value is empty.
type Queues struct {
	mu   sync.Mutex
	byID map[string]Queue
}

// Subscribe adds the work queue of a policy.
func (q *Queues) Subscribe(id string, queue Queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byID == nil {
		q.byID = map[string]Queue{}
	}
	q.byID[id] = queue
}

// Unsubscribe removes the work queue of a policy, unless it is another one by now.
func (q *Queues) Unsubscribe(id string, queue Queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byID[id] == queue {
		delete(q.byID, id)
	}
}

// Enqueue adds keys to the work queue of a policy.
func (q *Queues) Enqueue(id string, keys []eval.Key) { q.each(id, keys, Queue.Add) }

// EnqueueWave adds keys to the work queue of a policy that nothing has happened to.
func (q *Queues) EnqueueWave(id string, keys []eval.Key) { q.each(id, keys, Queue.AddWave) }

func (q *Queues) each(id string, keys []eval.Key, add func(Queue, eval.Key)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if queue := q.byID[id]; queue != nil {
		for _, key := range keys {
			add(queue, key)
		}
	}
}

// Wake adds keys to the work queues of their policies.
func (q *Queues) Wake(woken []reconcile.Wake) {
	if len(woken) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range woken {
		if queue := q.byID[w.Controller.Policy.ID()]; queue != nil {
			queue.Add(w.Key)
		}
	}
}
