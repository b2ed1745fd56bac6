package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/edict-dev/edict/test/bench/measure"
)

// profiles are the files for profiles of Edict's side.
type profiles struct{ cpu, mem string }

// take runs Edict's side of cases and writes profiles of it.
func (p profiles) take(ctx context.Context, found []spec, rounds int) error {
	return p.during(func() error {
		for _, s := range found {
			sides, err := s.sides(ctx, s)
			if err != nil {
				return err
			}
			if _, err := measure.One(rounds, sides.edict); err != nil {
				return fmt.Errorf("%s, %d nodes: %w", s.label(), s.Nodes, err)
			}
		}
		return nil
	})
}

// during writes the profiles that are asked for of what passes while do runs.
func (p profiles) during(do func() error) error {
	if p.mem != "" {
		runtime.MemProfileRate = 4096
	}
	if p.cpu != "" {
		f, err := os.Create(p.cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := do(); err != nil {
		return err
	}
	return p.memory()
}

func (p profiles) memory() error {
	if p.mem == "" {
		return nil
	}
	f, err := os.Create(p.mem)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}
