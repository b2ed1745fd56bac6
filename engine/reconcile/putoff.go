package reconcile

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// intentBytes is what an intent takes besides its name and its object.
	intentBytes = 256
	// spareEvery is how often intents that do not wait let go of their objects.
	spareEvery = time.Second
)

var errPutOff = fmt.Errorf("what is debounced would keep more than %d MiB with the objects that it is for; use a shorter window, or a debounce key that differs less often", eval.MaxPutOff>>20)

// weigh counts an intent anew.
func (q *intents) weigh(name string, i *intent) {
	now := intentBytes + len(name)
	if i.object != nil {
		now += value.Deep(i.object.Value)
	}
	q.bytes += now - i.weight
	i.weight = now
}

// drop forgets an intent.
func (q *intents) drop(name string, i *intent) {
	q.bytes -= i.weight
	delete(q.byName, name)
	q.unlink(name, i.key)
}

// hold lets an intent keep an object, or what it has for nil, if there is room for
// it; if not it keeps what it had.
func (q *intents) hold(name string, i *intent, object *world.Object, now time.Time) bool {
	before := i.object
	if object != nil {
		i.object = object
	}
	q.weigh(name, i)
	if q.bytes > eval.MaxPutOff {
		q.spare(i, now)
	}
	if q.bytes <= eval.MaxPutOff {
		return true
	}
	i.object = before
	q.weigh(name, i)
	return false
}

// spare lets go of the objects of all intents that do not wait, but for one: only
// metrics look at them.
func (q *intents) spare(but *intent, now time.Time) {
	if now.Sub(q.spared) < spareEvery {
		return
	}
	q.spared = now
	for name, i := range q.byName {
		if !i.pending && i != but && i.object != nil {
			i.object = nil
			q.weigh(name, i)
		}
	}
}
