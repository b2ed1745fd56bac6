package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// soon is when the processes that are left have decided about their own keys.
const soon = 3 * time.Second

// kill kills the process with the most shards, which starts again at once or stays away,
// and removes the label of some nodes. It prints when they have it again.
func (f *fleet) kill(ctx context.Context, w *world, again bool) error {
	victim, had, err := f.largest(ctx)
	if err != nil {
		return err
	}
	p := f.processes[victim]
	p.end(syscall.SIGKILL)
	p.wait()
	began := time.Now()
	if !again {
		f.processes = slices.Delete(f.processes, victim, victim+1)
	} else if err := p.start(ctx); err != nil {
		return err
	}
	n := min(w.sizes.nodes, 200)
	if err := w.removeLabels(ctx, n); err != nil {
		return err
	}
	removed := time.Since(began)
	left, took, err := labelled(ctx, w, began)
	if err != nil {
		return err
	}
	fmt.Printf("  %s held %.0f of %d shards; %d labels were removed within %.1f s; %.0f s after the kill %d nodes had none, all have it after %.1f s\n",
		p.name, had.shards, shardCount, n, removed.Seconds(), soon.Seconds(), left, took.Seconds())
	return nil
}

// labelled waits until all nodes have their label, and returns how many had none soon
// after an instant, and how long after it all had it.
func labelled(ctx context.Context, w *world, began time.Time) (left int, took time.Duration, err error) {
	for early := true; ; {
		select {
		case <-ctx.Done():
			return left, took, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		n, err := w.unlabelled(ctx)
		if err != nil {
			return left, took, err
		}
		took = time.Since(began)
		if early && took >= soon {
			early, left = false, n
		}
		if n == 0 {
			return left, took, nil
		}
	}
}

// unlimited copies the policies without their limits into a folder.
func unlimited(folder string) (string, error) {
	for _, name := range policyFiles {
		text, err := os.ReadFile(filepath.Join("policies", name))
		if err != nil {
			return "", err
		}
		text, err = withoutLimits(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// withoutLimits returns the text of a policy without its section limits: their writes
// are counted over all keys, which are in one shard because of that.
func withoutLimits(text []byte) ([]byte, error) {
	var out []string
	inside, found := false, false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "  limits:"):
			inside, found = true, true
		case inside && strings.HasPrefix(line, "    "):
		default:
			inside = false
			out = append(out, line)
		}
	}
	if !found {
		return nil, errors.New("there is no section limits in it")
	}
	return []byte(strings.Join(out, "")), nil
}
