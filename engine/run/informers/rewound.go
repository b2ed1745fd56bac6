package informers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ErrRewound ends a process whose API server has older data than it had: etcd was
// restored from a copy. Watches go on from versions that are given a second time,
// and would miss what happened in between, so everything is read again by the
// process that is started next.
var ErrRewound = errors.New("the API server has older data than was read from it, as after etcd was restored: start again and read everything again")

// rewindInterval is the interval between checks.
const rewindInterval = 5 * time.Second

// versions checks that the resource versions of the API server do not go back.
type versions struct {
	options   *Options
	informers func() []*informer
}

// follow checks one source after another, until the context ends.
func (v *versions) follow(ctx context.Context) {
	ticks := time.NewTicker(rewindInterval)
	defer ticks.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := v.check(ctx, turn); err != nil {
			v.options.Log.Error("this process ends", "error", err.Error())
			v.options.Writer.Close()
			v.options.End(ErrRewound)
			return
		}
	}
}

// check reports as an error that a source's present version, which is that of
// the whole server, is older than what its watch has seen.
func (v *versions) check(ctx context.Context, turn int) error {
	all := v.informers()
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *informer) int { return cmp.Compare(a.id, b.id) })
	one := all[turn%len(all)]
	seen, ok := parseVersion(one.shared.LastSyncResourceVersion())
	if !ok {
		return nil
	}
	version, err := one.version(ctx)
	if err != nil {
		return nil //nolint:nilerr // the watch reports that
	}
	now, ok := parseVersion(version)
	if !ok || now >= seen {
		return nil
	}
	return fmt.Errorf("%w: the version of %s is %d, and was %d", ErrRewound, one.id, now, seen)
}

// parseVersion returns a resource version as a number.
func parseVersion(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}
