package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/run/check"
)

// childName is the command that works for the others, in a process with limits.
const childName = "child"

func childCommand() *cobra.Command {
	return &cobra.Command{
		Use:    childName + " BYTES NAME",
		Short:  "Work for another command within so many bytes of memory; the name is for lists of processes",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			memory, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return err
			}
			services := check.Services()
			services[rego.Service] = (&rego.Programs{}).Handle
			return child.Serve(os.Stdin, os.Stdout, memory, services)
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
	if command, err := childLine(memory); err == nil {
		c := child.New(child.Options{Process: "the process that evaluates Rego", Command: append(command, "rego"), Memory: memory})
		rego.SetDefault(&limitedRego{Evaluator: rego.Remote{In: c.Service(rego.Service, rego.MaxTime)}})
	}
}

// limitedRego is an evaluator that keeps the first error, such as one about its memory or time.
type limitedRego struct {
	rego.Evaluator

	met atomic.Pointer[error]
}

// Do implements rego.Evaluator.
func (l *limitedRego) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	out, err := l.Evaluator.Do(ctx, r)
	if err != nil && ctx.Err() == nil {
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

// childLine returns the command line, but for a name, that starts this program as a child.
func childLine(memory int64) ([]string, error) {
	self, err := os.Executable()
	return []string{self, childName, strconv.FormatInt(memory, 10)}, err
}

// startApart has the controller start its own processes for Rego and for new texts.
func startApart(o *run.Options, memory string) (err error) {
	if o.ChildMemory, err = childMemory(memory); err != nil {
		return err
	}
	o.ChildCommand, err = childLine(o.ChildMemory)
	return err
}
