package rego

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

const (
	// leastPause is how long something is not asked after a query that was ended. For
	// each further one in a row it is twice as long, up to mostPause.
	leastPause = 10 * time.Second
	mostPause  = 5 * time.Minute
	// maxPauses is how many sets of modules are remembered, and how many questions of each.
	maxPauses    = 1024
	maxQuestions = 64
)

// pauses are what is not asked for a while, because the last time it had to be ended by
// its time or memory: each such query takes as much as a thousand others, which wait for
// it. That is the same question about the same input, and all questions of its modules
// once two different ones were ended with no answer between: one object that takes too
// much does not keep the others of its policy waiting.
type pauses struct {
	now func() time.Time

	mu sync.Mutex
	of map[string]*modules
}

// modules is what is known of a set of modules of which a query was ended.
type modules struct {
	pause
	// last is the question that was ended last, questions are those that are paused.
	last      string
	questions map[string]*pause
}

type pause struct {
	// ends is how many queries in a row were ended, why is the last one's error.
	ends  int
	why   string
	until time.Time
}

func newPauses(now func() time.Time) *pauses {
	return &pauses{now: now, of: map[string]*modules{}}
}

// check returns why a query may not be asked now, nil if it may.
func (p *pauses) check(r *Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.of[r.ID]
	if of == nil {
		return nil
	}
	if now := p.now(); now.Before(of.until) {
		return of.error("its modules are not called")
	} else if one := of.questions[r.Question()]; one != nil && now.Before(one.until) {
		return one.error("it is not asked about this input")
	}
	return nil
}

// error says when, not how soon: the text is the same for all of the pause, since
// a policy may write it into a status.
func (p *pause) error(what string) error {
	calls := "call"
	if p.ends > 1 {
		calls = fmt.Sprintf("%d calls", p.ends)
	}
	return fmt.Errorf("%w: %s again before %s, because the last %s had to be ended: %s",
		expr.ErrUnavailable, what, p.until.UTC().Format(time.RFC3339), calls, p.why)
}

// note takes in what became of a query.
func (p *pauses) note(r *Request, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.answered(r)
	case expr.Exhausted(err):
		p.ended(r, err.Error())
	}
}

// answered ends the pauses of a question and of its modules, not those of others.
func (p *pauses) answered(r *Request) {
	of := p.of[r.ID]
	if of == nil {
		return
	}
	of.pause, of.last = pause{}, ""
	if delete(of.questions, r.Question()); len(of.questions) == 0 {
		delete(p.of, r.ID)
	}
}

func (p *pauses) ended(r *Request, why string) {
	forget(p.of, maxPauses, p.now(), func(m *modules) time.Time { return m.latest() })
	of, question := p.of[r.ID], r.Question()
	if of == nil {
		of = &modules{questions: map[string]*pause{}}
		p.of[r.ID] = of
	}
	forget(of.questions, maxQuestions, p.now(), func(q *pause) time.Time { return q.until })
	if of.questions[question] == nil {
		of.questions[question] = &pause{}
	}
	of.questions[question].lengthen(p.now(), why)
	if of.last != "" && of.last != question {
		of.lengthen(p.now(), why)
	}
	of.last = question
}

// lengthen begins a pause that is longer than the one before.
func (p *pause) lengthen(now time.Time, why string) {
	p.ends++
	p.why, p.until = why, now.Add(length(p.ends))
}

// latest is when the last of the pauses ends.
func (m *modules) latest() time.Time {
	out := m.until
	for _, q := range m.questions {
		if q.until.After(out) {
			out = q.until
		}
	}
	return out
}

// length is how long a pause is after some ends in a row.
func length(ends int) time.Duration {
	const doublings = 5 // more than up to mostPause
	return min(leastPause<<min(ends-1, doublings), mostPause)
}

// forget drops what has not been asked for long after its pause: nobody says when
// modules are no longer used. Of too many it drops the one that ends first.
func forget[T any](of map[string]*T, most int, now time.Time, until func(*T) time.Time) {
	maps.DeleteFunc(of, func(_ string, one *T) bool { return now.After(until(one).Add(mostPause)) })
	if len(of) < most {
		return
	}
	first := ""
	for id, one := range of {
		if first == "" || until(one).Before(until(of[first])) {
			first = id
		}
	}
	delete(of, first)
}
