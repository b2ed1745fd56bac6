package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/expr/rego/child"
	"github.com/edict-dev/edict/engine/run"
)

// The commands that work for the others, each in a process with limits.
const (
	regoChildName     = "rego-child"
	compilerChildName = "compiler-child"
)

func childCommand(name, work string, handler func() child.Handler) *cobra.Command {
	return &cobra.Command{
		Use:    name + " BYTES",
		Short:  work + " for another command, within so many bytes of memory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			memory, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return err
			}
			return child.Serve(os.Stdin, os.Stdout, memory, handler)
		},
	}
}

// defaultChildMemory is the default limit of --child-memory.
const defaultChildMemory = "192Mi"

// evaluateRegoApart has the commands evaluate Rego as the controller does: in a process
// with limits, which ends with this one.
func evaluateRegoApart() {
	memory, err := childMemory(defaultChildMemory)
	if err != nil {
		return
	}
	if command, err := childLine(regoChildName, memory); err == nil {
		rego.SetDefault(&limitedRego{Evaluator: child.New(child.Options{Command: command, Memory: memory}).Unpaused()})
	}
}

// limitedRego is an evaluator that keeps the first error about its memory or time.
type limitedRego struct {
	rego.Evaluator

	met atomic.Pointer[error]
}

// Do implements rego.Evaluator.
func (l *limitedRego) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	out, err := l.Evaluator.Do(ctx, r)
	if errors.Is(err, rego.ErrLimit) || errors.Is(err, expr.ErrTime) {
		l.met.CompareAndSwap(nil, &err)
	}
	return out, err
}

// regoLimit returns an error if Rego was ended by a limit of its process: what a command
// has found then is not what the controller would do.
func regoLimit() error {
	if l, ok := rego.Default().(*limitedRego); ok && l.met.Load() != nil {
		return fmt.Errorf("an evaluation of Rego was ended: %w; the errors of the result say which policy and object", *l.met.Load())
	}
	return nil
}

// leastChildMemory has room for the 85 MiB that Go's runtime and this program's packages
// map, and for the next 64 MiB of the heap.
const leastChildMemory = 160 << 20

func childMemory(flag string) (int64, error) {
	q, err := resource.ParseQuantity(flag)
	if err != nil || q.Value() < leastChildMemory {
		return 0, fmt.Errorf("--child-memory must be a quantity of at least %dMi, such as 192Mi: %q", leastChildMemory>>20, flag)
	}
	return q.Value(), nil
}

// childLine returns the command line that starts this program with one of these commands.
func childLine(name string, memory int64) ([]string, error) {
	self, err := os.Executable()
	return []string{self, name, strconv.FormatInt(memory, 10)}, err
}

// startApart has the controller start its own processes for Rego and for new texts.
func startApart(o *run.Options, memory string) (err error) {
	if o.ChildMemory, err = childMemory(memory); err != nil {
		return err
	}
	if o.RegoCommand, err = childLine(regoChildName, o.ChildMemory); err != nil {
		return err
	}
	o.CompilerCommand, err = childLine(compilerChildName, o.ChildMemory)
	return err
}
