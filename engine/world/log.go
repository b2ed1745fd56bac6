package world

import "sync"

// Change names an object that changed.
type Change struct{ Namespace, Name string }

// log remembers the latest changes of a table, for whoever keeps something
// computed from an earlier version of it. It takes memory for as many as there were.
type log struct {
	mu    sync.Mutex
	pages [logSize / pageSize]*page
}

// page has changes that follow one another.
type page [pageSize]Change

const (
	logSize  = 1024
	pageSize = 16
)

// at returns the place of a change.
func (l *log) at(seq uint64) *Change {
	p := &l.pages[seq%logSize/pageSize]
	if *p == nil {
		*p = new(page)
	}
	return &(*p)[seq%pageSize]
}

func (l *log) record(seq uint64, c Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.at(seq) = c
}

func (l *log) between(since, until uint64) ([]Change, bool) {
	// Half of the log is left to writers that are already further on.
	if until-since > logSize/2 {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Change, 0, until-since)
	for seq := since + 1; seq <= until; seq++ {
		out = append(out, *l.at(seq))
	}
	return out, true
}
