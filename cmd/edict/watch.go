package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/source"
)

// quiet is how long files must have been left alone: editors write a file in steps.
const quiet = 100 * time.Millisecond

// watched runs tests, and again after every change of their files or of the files of
// the policies that they test, until the context ends.
func watched(ctx context.Context, messages io.Writer, paths []string, o *policytest.Options, once func() error) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	o.Edit = func(u *source.Unit) { follow(watcher, filepath.Dir(u.File.Path)) }
	for {
		if err := once(); err != nil && err.Error() != "" {
			fmt.Fprintln(messages, "edict:", err)
		}
		for _, path := range paths {
			follow(watcher, path)
		}
		fmt.Fprintln(messages, "waiting for changes")
		if err := settled(ctx, watcher); err != nil {
			return nil // the end that was asked for
		}
	}
}

// follow watches a folder with all that are in it. What cannot be watched is not: the
// next run says what is wrong with it.
func follow(w *fsnotify.Watcher, path string) {
	_ = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return filepath.SkipDir
		}
		if entry.IsDir() || p == path {
			_ = w.Add(p)
		}
		return nil
	})
}

// settled waits for a change of a document, and until no other comes.
func settled(ctx context.Context, w *fsnotify.Watcher) error {
	var end <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			return nil
		case err := <-w.Errors:
			return err
		case event := <-w.Events:
			if ext := strings.ToLower(filepath.Ext(event.Name)); ext == ".yaml" || ext == ".yml" || ext == ".json" || ext == ".rego" {
				end = time.After(quiet)
			}
		}
	}
}
