package schedules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// step is one thing that happens. What n and m mean depends on it; numbers of keys
// and feeds are taken modulo how many there are, so that a step means something in
// every schedule.
type step struct {
	do   action
	n, m int
}

// action is what a step does.
type action int

const (
	change    action = iota // others make the change n
	work                    // the n-th key of the queue is reconciled
	lag                     // the events of the feed n wait from now on
	deliver                 // m of the events that wait in the feed n are delivered
	relist                  // the watch of the feed n is cut, and goes on with a new list
	badList                 // the same, but a third of the objects, by m, is missing in the list
	confirm                 // a second list of the feed n shows that the first was wrong
	failSend                // the n-th write from now fails before the server gets it
	failRecv                // the n-th write from now is made, but its answer is lost
	contend                 // another writer touches the target of the n-th write from now before it
	revoke                  // writes of the kind of the feed n are forbidden
	grant                   // nothing is forbidden any more
	kill                    // the process dies at once
	killAfter               // the process dies after its n-th write from now, without the answer
	start                   // a new process starts, if there is none
	handOver                // another process takes over while the keys from n on are being written; m says what becomes of those writes
	finish                  // what runs on nodes finishes what it was told to do
	tick                    // the clock moves by the n-th duration
)

var names = map[action]string{
	change: "change", work: "reconcile", lag: "lag", deliver: "deliver", relist: "relist", badList: "relist without some of the objects", confirm: "confirm",
	failSend: "fail before", failRecv: "fail after", contend: "contend", revoke: "revoke", grant: "grant", kill: "kill", killAfter: "kill after",
	start: "start", handOver: "hand over", finish: "finish", tick: "tick",
}

// String implements fmt.Stringer.
func (s step) String() string { return fmt.Sprintf("%s %d %d", names[s.do], s.n, s.m) }

// ticks are the durations by which the clock moves.
var ticks = []time.Duration{time.Millisecond, 20 * time.Millisecond, time.Second, 15 * time.Second, 5 * time.Minute}

// weights say how often the steps come, in relation to each other.
var weights = map[action]int{
	work: 30, lag: 4, deliver: 8, relist: 2, badList: 1, confirm: 2, failSend: 3, failRecv: 3, contend: 2, revoke: 1, grant: 2,
	kill: 1, killAfter: 1, start: 4, handOver: 1, finish: 3, tick: 5,
}

// schedule is what follows from a seed.
type schedule struct {
	seed    uint64
	objects []object
	changes []alteration
	steps   []step
}

// alteration is what others do with an object: they put it, or delete it.
type alteration struct {
	object object
	gone   bool
}

// generate makes the schedule of a seed.
func generate(seed uint64, c *scenario) schedule {
	r := rand.New(rand.NewPCG(seed, 17))
	out := schedule{seed: seed}
	out.objects, out.changes = c.generate(seed, 3+r.IntN(12))
	var lots []action
	for a := change; a <= tick; a++ {
		for range weights[a] {
			lots = append(lots, a)
		}
	}
	for i := range out.changes {
		out.steps = append(out.steps, step{change, i, 0})
		for range r.IntN(9) {
			out.steps = append(out.steps, step{lots[r.IntN(len(lots))], r.IntN(40), r.IntN(8)})
		}
	}
	return out
}

// String implements fmt.Stringer.
func (s schedule) String() string {
	var out strings.Builder
	for _, at := range s.steps {
		fmt.Fprintf(&out, "\t%v", at)
		if at.do == change {
			c := s.changes[at.n]
			verb := "put"
			if c.gone {
				verb = "delete"
			}
			fmt.Fprintf(&out, ": %s %v %v", verb, idOf(c.object), c.object)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// shrink drops steps as long as the schedule still fails.
func (s schedule) shrink(fails func(schedule) bool) schedule {
	for size := len(s.steps) / 2; size > 0; {
		dropped := false
		for from := 0; from+size <= len(s.steps); {
			next := s
			next.steps = append(append([]step{}, s.steps[:from]...), s.steps[from+size:]...)
			if fails(next) {
				s, dropped = next, true
			} else {
				from += size
			}
		}
		if !dropped {
			size /= 2
		}
	}
	return s
}
