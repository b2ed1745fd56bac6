package informers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrRewound ends a process whose API server has older data than it had: etcd was
// restored from a copy. Watches go on from versions that are given a second time,
// and would miss what happened in between, so everything is read anew by the
// process that is started next.
var ErrRewound = errors.New("the API server has older data than was read from it, as after etcd was restored: start again and read everything anew")

// rewindInterval is how often it is looked whether the versions have gone back.
const rewindInterval = 5 * time.Second

// watchVersions looks at one source after another, until the context ends.
func (s *Set) followVersions(ctx context.Context) {
	ticks := time.NewTicker(rewindInterval)
	defer ticks.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := s.checkRewound(ctx, turn); err != nil {
			s.options.Log.Error("this process ends", "error", err.Error())
			s.options.Writer.Close()
			s.options.End(ErrRewound)
			return
		}
	}
}

// rewound reports as an error that a source's present version, which is that of
// the whole server, is older than what its watch has seen.
func (s *Set) checkRewound(ctx context.Context, turn int) error {
	s.mu.Lock()
	all := make([]*informer, 0, len(s.informers))
	for _, informer := range s.informers {
		all = append(all, informer)
	}
	s.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *informer) int { return cmp.Compare(a.id, b.id) })
	one := all[turn%len(all)]
	seen, ok := version(one.shared.LastSyncResourceVersion())
	if !ok {
		return nil
	}
	options := metav1.ListOptions{Limit: 1}
	one.narrow(&options)
	list, err := one.client.List(ctx, options)
	if err != nil {
		return nil //nolint:nilerr // the watch says so itself
	}
	now, ok := version(list.GetResourceVersion())
	if !ok || now >= seen {
		return nil
	}
	return fmt.Errorf("%w: the version of %s is %d, and was %d", ErrRewound, one.id, now, seen)
}

// version reads a resource version as the number that it is.
func version(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}
