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
	// The first time is the start: no wait is over yet. At the second one every wait is.
	w := world{reads: readsOf(o), times: []any{o.Start.UTC().Format(time.RFC3339), o.Start.UTC().AddDate(-1, 0, 0).Format(time.RFC3339)}}
	if len(w.reads) == 0 {
		return w, errors.New("the policies read nothing")
	}
	w.reduce(o)
	return w, nil
}

func anys(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
