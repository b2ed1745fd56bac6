package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// output collects what a command that runs on prints.
type output struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.written <- struct{}{}:
	default:
	}
	return o.b.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) wait(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for !strings.Contains(o.text(), want) {
		select {
		case <-o.written:
		case <-ctx.Done():
			t.Fatalf("no %q in %s", want, o.text())
		}
	}
}

// TestWatch: the tests run again when a policy beside them changes, also one that
// cannot be read in between.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policy := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{labels: {set: {a: VALUE}}}]}]\n"
	write("p.yaml", strings.Replace(policy, "VALUE", "b", 1))
	write("p_test.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: p}\nspec:\n  policies: [p.yaml]\n  cases:\n    - name: c\n      objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]\n      expect: {objects: [{apiVersion: v1, kind: Node, metadata: {name: n, labels: {a: b}}}]}\n")
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &output{written: make(chan struct{}, 1)}, make(chan struct{})
	cmd := root()
	cmd.SetArgs([]string{"test", "--watch", dir})
	cmd.SetOut(out)
	cmd.SetErr(out)
	go func() {
		defer close(done)
		if err := cmd.ExecuteContext(ctx); err != nil {
			t.Error(err)
		}
	}()
	out.wait(t, "1 passed, 0 failed\nwaiting for changes")
	write("p.yaml", strings.Replace(policy, "VALUE", "c", 1))
	out.wait(t, "0 passed, 1 failed\nwaiting for changes")
	write("p.yaml", "{")
	out.wait(t, "not valid YAML")
	write("p.yaml", strings.Replace(policy, "VALUE", "b", 1))
	out.wait(t, "1 failed\nwaiting for changes\nok")
	cancel()
	<-done
}
