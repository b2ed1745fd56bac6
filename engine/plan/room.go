package plan

import (
	"errors"
	"fmt"
)

// How many bytes compiled policies may keep: those of one ConfigMap, or of one file, and all
// together. Each text is bounded by itself, but there may be many.
const (
	MaxKeptOfOne = 64 << 20
	MaxKept      = 256 << 20
)

// Room is what is left for policies. The zero value is for MaxKept bytes. The first policy of a
// ConfigMap that does not fit closes the ConfigMap for those after it, which need not be
// compiled.
type Room struct {
	total  int
	of     map[string]int
	closed map[string]bool
}

// Take takes the room of a policy of a ConfigMap or a file. It returns an error, and takes
// nothing, if the policy does not fit.
func (r *Room) Take(of string, bytes int) error {
	err := r.Closed(of)
	switch {
	case err != nil:
		return err
	case r.of[of]+bytes > MaxKeptOfOne:
		err = fmt.Errorf("the policy keeps %s in memory, and with those before it in %s that is %s, of at most %s: make them smaller, or divide them", mib(bytes), of, mib(r.of[of]+bytes), mib(MaxKeptOfOne))
	case r.total+bytes > MaxKept:
		err = fmt.Errorf("the policy keeps %s in memory, and with those before it that is %s, of at most %s: remove policies, or make them smaller", mib(bytes), mib(r.total+bytes), mib(MaxKept))
	}
	if r.of == nil {
		r.of, r.closed = map[string]int{}, map[string]bool{}
	}
	if err != nil {
		r.closed[of] = true
		return err
	}
	r.of[of] += bytes
	r.total += bytes
	return nil
}

// ErrClosed is the error of a policy after one that did not fit.
var ErrClosed = errors.New("a policy before it, in the same ConfigMap or file, keeps more memory than is left: make that smaller, or move this one")

// Closed returns an error if a policy of a ConfigMap or a file did not fit.
func (r *Room) Closed(of string) error {
	if r.closed[of] {
		return ErrClosed
	}
	return nil
}

// Total returns how many bytes are taken.
func (r *Room) Total() int { return r.total }

func mib(bytes int) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
