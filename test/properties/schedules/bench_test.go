package schedules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/worlds"
)

const (
	others    = "somebody"
	touchedBy = "example.com/touched"
	// lasts is how long a schedule takes by the virtual clock: more than all its
	// steps, and than the longest back-off after them.
	lasts = 12 * time.Hour
	// most is how many keys are reconciled until all is at rest.
	most = 20_000
)

var errRevoked = errors.New("the permission was taken away")

// plant is a fault of the controller that a test puts in, to see it found.
type plant int

const (
	nothing          plant = iota
	forgetsEvents          // some of the events that come late are lost
	forgetsDeletions       // what is missing in a new list stays in the read model
	takesLostForDone       // a write without an answer counts as made
	forgetsTheUnseen       // what was made and is deleted before a watch shows it is not missed
)

// bench is a world in memory with the process that leads in it.
type bench struct {
	*scenario
	ctx    context.Context
	plant  plant
	clock  time.Time
	server *apiserver.Server
	plain  apply.Writer
	leads  *process
	// waiting are changes to objects that are going: others try them again.
	waiting map[world.ID][]alteration
	// faults are the writes until each happens, revoked the kinds that may not be
	// written.
	faults  map[action]int
	revoked map[string]bool
	// history are the writes that were asked for.
	history []request
	// met counts the faults that happened; starts and touched are the processes, and
	// the changes of no account by others.
	met             map[string]int
	starts, touched int
}

// run runs a schedule; without faults only what others do and the clock.
func run(ctx context.Context, c *scenario, s schedule, p plant, faults bool) (*bench, error) {
	b := &bench{scenario: c, ctx: ctx, plant: p, clock: worlds.Start, waiting: map[world.ID][]alteration{}, faults: map[action]int{}, met: map[string]int{}, revoked: map[string]bool{}}
	b.server = apiserver.New(c.bundle.Schemas, func() time.Time { return b.clock })
	b.plain = simulate.NewWriter(b.server)
	for _, o := range s.objects {
		b.server.Load(o)
	}
	b.server.Changed = b.changed
	b.start()
	for _, at := range s.steps {
		switch {
		case faults:
			b.step(s, at)
		case at.do == change || at.do == tick:
			b.step(s, at)
			if err := b.rest(); err != nil {
				return b, err
			}
		}
	}
	return b, b.mend()
}

func (b *bench) changed(id world.ID, old, now object) {
	for _, f := range b.leads.feeds {
		f.happened(event{id, old, now})
	}
}

func (b *bench) start() {
	b.starts++
	b.leads = newProcess(b)
}

func (b *bench) step(s schedule, at step) {
	f := b.leads.feeds[at.n%len(b.leads.feeds)]
	switch at.do {
	case change:
		b.alter(s.changes[at.n])
	case tick:
		b.clock = b.clock.Add(ticks[at.n%len(ticks)])
		b.leads.due()
		b.leads.recheck()
	case failSend, failRecv, contend:
		b.faults[at.do] = 1 + at.n%5
	case revoke:
		b.revoked[f.source.Kind] = true
	case grant:
		clear(b.revoked)
	case finish:
		b.runs(b)
	case start:
		if b.leads.dead {
			b.start()
		}
	default:
		if !b.leads.dead {
			b.living(f, at)
		}
	}
	b.again()
}

// living does what needs a process that is alive.
func (b *bench) living(f *feed, at step) {
	switch at.do {
	case work:
		b.leads.work(b.ctx, at.n)
	case lag:
		f.late = true
	case deliver:
		f.deliver(1 + at.m)
	case relist:
		f.met[names[relist]] += min(1, len(f.events))
		f.relist()
	case badList:
		b.met[names[badList]]++
		f.badList(at.m)
	case confirm:
		if f.doubt {
			f.relist()
		}
	case kill:
		b.leads.dead = true
		b.met[names[kill]]++
	case killAfter:
		b.leads.killAfter = 1 + at.n%12
	case handOver:
		b.handOver(at)
	}
}

// handOver lets another process take over while the one before is writing. What
// is on its way arrives before the other writes, but perhaps after its lists, or
// is refused.
func (b *bench) handOver(at step) {
	old := b.leads
	old.holding = true
	for range 3 {
		old.work(b.ctx, at.n)
	}
	old.dead = true
	b.met[names[handOver]] += len(old.inFlight)
	if at.m&1 == 0 {
		b.start()
	}
	for _, f := range b.leads.feeds {
		f.late = f.late || at.m&4 != 0
	}
	if at.m&2 == 0 {
		for _, arrive := range old.inFlight {
			arrive()
		}
	}
	if at.m&1 != 0 {
		b.start()
	}
}

// alter makes a change of others. One to an object that is going waits until it is
// gone, as a client would.
func (b *bench) alter(a alteration) {
	id := idOf(a.object)
	if metadataOf(b.server.Get(id))["deletionTimestamp"] != nil || len(b.waiting[id]) > 0 {
		b.waiting[id] = append(b.waiting[id], a)
		return
	}
	if a.gone {
		_ = b.server.Delete(id, apiserver.Deletion{Propagation: metav1.DeletePropagationBackground}) // what is gone is gone
		return
	}
	b.put(a.object)
}

// again tries the changes that wait, and reports whether one was made.
func (b *bench) again() (done bool) {
	for _, id := range slices.SortedFunc(maps.Keys(b.waiting), compareIDs) {
		if len(b.waiting[id]) == 0 || metadataOf(b.server.Get(id))["deletionTimestamp"] != nil {
			continue
		}
		all := b.waiting[id]
		delete(b.waiting, id)
		for _, a := range all {
			b.alter(a)
		}
		done = true
	}
	return done
}

// mend ends all faults, delivers what waits, and lets the time pass.
func (b *bench) mend() error {
	clear(b.faults)
	clear(b.revoked)
	if b.leads.dead {
		b.start()
	}
	b.leads.killAfter = 0
	for _, f := range b.leads.feeds {
		f.deliver(len(f.events) + 1)
		if f.doubt {
			f.relist()
		}
	}
	b.leads.recheck()
	end := worlds.Start.Add(lasts)
	for {
		if err := b.rest(); err != nil {
			return err
		}
		next := b.leads.next()
		if next.IsZero() || next.After(end) {
			break
		}
		b.clock = maxTime(b.clock, next)
		b.leads.due()
	}
	b.clock = end
	for id := range b.waiting {
		return fmt.Errorf("%v never goes", id)
	}
	return nil
}

// rest works until the queue is empty and nothing waits.
func (b *bench) rest() error {
	for n := 0; b.leads.work(b.ctx, 0) || b.again() || b.runs(b); n++ {
		if n == most || len(b.history) > most {
			return fmt.Errorf("it never comes to rest, the last write was %v", b.history[len(b.history)-1])
		}
	}
	return nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// note keeps what was asked for and answered.
func (b *bench) note(r request, err error) {
	if r.code = 0; err != nil {
		r.code = http.StatusInternalServerError
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			r.code = int(status.Status().Code)
		}
	}
	if r.code == http.StatusConflict {
		b.met["conflict"]++
	}
	b.history = append(b.history, r)
}

func resourceOf(r request) kschema.GroupResource {
	return kschema.GroupResource{Group: r.target.Group(), Resource: r.target.Kind()}
}
