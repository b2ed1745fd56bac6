package brake

import (
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// maxFlips is how often a field may be written back within flipWindow.
	maxFlips   = 5
	flipWindow = time.Minute
	// contestedPause is how long the writes of a field are apart that somebody
	// else writes, too.
	contestedPause = 10 * time.Second
	// maxUnanswered is after how many writes back in a row somebody else writes what another
	// policy has written before: a policy awaits the answer to its write before the next
	// one, and the answer to the one before may be late, too.
	maxUnanswered = 2
	// maxFields bounds the fields that are remembered.
	maxFields = 100_000
)

// field is what is known of a field that policies have written.
type field struct {
	// last wrote it, before wrote what that replaced.
	last, before fieldWriter
	// unanswered counts the writes of before, as it seems, since last wrote: the answers
	// to them are still to come.
	unanswered  int
	flips       int
	since, seen time.Time
	// next is the earliest time of the next write of a field that somebody else
	// writes, too; zero if nobody does.
	next time.Time
	// path and target are set of such a field.
	path   string
	target world.ID
}

type fieldWriter struct {
	policy string
	rules  []string
	value  uint64
}

// flip counts that a field was written back, and reports whether that was once
// too often.
func (f *field) flip(now time.Time) bool {
	if now.Sub(f.since) > flipWindow {
		f.since, f.flips = now, 0
	}
	f.flips++
	return f.flips >= maxFlips
}

// fields are what policies have written of late.
type fields struct {
	byID  map[uint64]*field
	swept time.Time
	// waiting is until when some field may not be written.
	waiting time.Time
}

// fieldID tells fields apart. One of another object of the same name is another
// field.
func fieldID(target world.ID, uid, path string) uint64 {
	return hash(target.APIVersion + "\x00" + target.Kind + "\x00" + target.Namespace + "\x00" + target.Name + "\x00" + uid + "\x00" + path)
}

// verdict is what is found out by a write.
type verdict struct {
	// other is the rival: the rules of another policy, or nobody known.
	other     fieldWriter
	contested bool
	path      string
}

// wrote notes the fields that an effect has changed. The verdicts are of those
// that were written back too often.
func (f *fields) wrote(policy string, e *eval.Effect, uid string, now time.Time) (out []verdict) {
	f.sweep(now)
	for _, c := range changes(e) {
		id := fieldID(e.Target, uid, c.path)
		one := f.byID[id]
		if one == nil {
			one = &field{}
			f.byID[id] = one
		}
		me := fieldWriter{policy: policy, rules: e.Rules, value: c.after}
		if v, found := one.judge(me, c, now); found {
			v.path = c.path
			out = append(out, v)
		}
		if !one.next.IsZero() {
			one.path, one.target = c.path, e.Target
			f.waiting = later(f.waiting, one.next)
		}
		one.seen = now
		if one.last.policy != policy {
			one.before, one.unanswered = one.last, 0
		}
		one.last = me
	}
	return out
}

// judge reports whether a write is one too many in a fight about the field.
func (f *field) judge(me fieldWriter, c change, now time.Time) (verdict, bool) {
	switch {
	case f.last.policy == me.policy && f.last.value == c.after: // what was written is gone again
		if rival := f.before; rival.policy != "" && rival.value == c.before && f.unanswered < maxUnanswered {
			f.unanswered++
			return f.turn(rival, now)
		}
		if f.contested(now) || f.flip(now) {
			first := !f.contested(now)
			f.next = now.Add(contestedPause)
			return verdict{contested: true}, first
		}
	case f.last.policy != "" && f.last.value == c.before && f.before.policy == me.policy && f.before.value == c.after:
		return f.turn(f.last, now)
	}
	return verdict{}, false
}

// turn counts that a policy has written back what another one wrote.
func (f *field) turn(rival fieldWriter, now time.Time) (verdict, bool) {
	if !f.flip(now) {
		return verdict{}, false
	}
	f.flips = 0 // it is told once
	return verdict{other: rival}, true
}

// contested reports whether somebody else writes the field, too: until that has
// stopped for a while, no write of it is counted afresh.
func (f *field) contested(now time.Time) bool {
	return !f.next.IsZero() && now.Sub(f.next) <= flipWindow
}

// restart counts afresh how often the fields of a policy were written back.
func (f *fields) restart(policy string) {
	for _, one := range f.byID {
		if one.next.IsZero() && (one.last.policy == policy || one.before.policy == policy) {
			one.flips = 0
		}
	}
}

// wait returns until when an effect has to wait, because somebody else writes a
// field of it, too; zero if it has not.
func (f *fields) wait(e *eval.Effect, w World, now time.Time) (until time.Time) {
	if !f.waiting.After(now) {
		return until
	}
	uid := w.UID(e.Target)
	for _, c := range changes(e) {
		if one := f.byID[fieldID(e.Target, uid, c.path)]; one != nil && one.next.After(now) && one.next.After(until) {
			until = one.next
		}
	}
	return until
}

// contested returns the fields that somebody else writes, too, by policy.
func (f *fields) contested(now time.Time) map[string][]*field {
	out := map[string][]*field{}
	if now.Sub(f.waiting) > flipWindow {
		return out
	}
	for _, one := range f.byID {
		if one.contested(now) {
			out[one.last.policy] = append(out[one.last.policy], one)
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sweep forgets what was not written for a while, at most every few seconds.
func (f *fields) sweep(now time.Time) {
	full := len(f.byID) >= maxFields
	if now.Sub(f.swept) < flipWindow/4 && !full {
		return
	}
	f.swept = now
	for id, one := range f.byID {
		if full && one.next.IsZero() || now.Sub(one.seen) > flipWindow && now.Sub(one.next) > flipWindow {
			delete(f.byID, id)
		}
	}
}
