package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/expr/rego/child"
)

// regoChildName is the command that evaluates Rego for edict run.
const regoChildName = "rego-child"

func regoChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    regoChildName + " BYTES",
		Short:  "Evaluate Rego for edict run, within so many bytes of memory",
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
