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
)

// regoChildName is the command that evaluates Rego for the others.
const regoChildName = "rego-child"

func regoChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    regoChildName + " BYTES",
		Short:  "Evaluate Rego for another command, within so many bytes of memory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			memory, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return err
			}
			return child.Serve(os.Stdin, os.Stdout, memory)
		},
	}
}

// defaultRegoMemory is what the process that evaluates Rego may have.
const defaultRegoMemory = "192Mi"

// evaluateRegoApart has the commands evaluate Rego as the controller does: in a process
// with limits, which ends with this one.
func evaluateRegoApart() {
	if command, memory, err := regoChild(defaultRegoMemory); err == nil {
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

// leastRegoMemory is what Go's runtime and this program's packages have mapped
// already, 85 MiB, and the next piece of 64 MiB that the heap takes.
const leastRegoMemory = 160 << 20

// regoChild returns the command line that starts this program as that, with the
// memory that a flag says.
func regoChild(flag string) (command []string, memory int64, err error) {
	q, err := resource.ParseQuantity(flag)
	if err != nil || q.Value() < leastRegoMemory {
		return nil, 0, fmt.Errorf("--rego-memory must be a quantity of at least %dMi, such as 192Mi: %q", leastRegoMemory>>20, flag)
	}
	self, err := os.Executable()
	return []string{self, regoChildName, strconv.FormatInt(q.Value(), 10)}, q.Value(), err
}
