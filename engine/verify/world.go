package verify

import (
	"errors"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// world is where the search begins, and what may change in it from outside.
type world struct {
	objects []simulate.Object
	// spare are objects that may be created.
	spare []simulate.Object
	// left counts the objects that were left out.
	left int
	// reads are the fields that policies read, by kind.
	reads map[schema.GVK][][]string
	// times are those that a field may turn to.
	times []any
}

// worldOf returns the world to explore: what is given, reduced.
func worldOf(o *Options) (world, error) {
	w := world{reads: readsOf(o), times: timesAt(o.Start)}
	if len(w.reads) == 0 {
		return w, errors.New("the policies read nothing")
	}
	w.reduce(o)
	return w, nil
}

// timesAt returns a time from which nothing has waited, and one from which everything has
// waited long enough.
func timesAt(start time.Time) []any {
	return []any{start.UTC().Format(time.RFC3339), start.UTC().AddDate(-1, 0, 0).Format(time.RFC3339)}
}

func anys(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
