package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/extender"
)

// shardCount is how many shards there are: several for each process.
const shardCount = 8

// fleet is the processes of the controller, and the extender.
type fleet struct {
	sizes     sizes
	extender  *extender.Running
	processes []*process
	// sharing says that they share the work.
	sharing bool
}

func newFleet(folder, kubeconfig string, o options, s sizes) (*fleet, error) {
	running, err := extender.ListenTLS(folder)
	if err != nil {
		return nil, err
	}
	capacity := map[extender.Pool]extender.Capacity{}
	for i := range 2 * s.nodes {
		capacity[extender.Pool{Name: objects.GroupName(i/2, i%2)}] = extender.Capacity{Size: 1 << 50}
	}
	running.Server.SetCapacity(capacity)
	f := &fleet{sizes: s, extender: running, sharing: o.processes > 0}
	policies := "policies"
	if f.sharing && !o.limits {
		if policies, err = unlimited(folder); err != nil {
			return nil, err
		}
	}
	for i := range max(1, o.processes) {
		name := "process-" + strconv.Itoa(i)
		p, err := newProcess(folder, name, o.binary, append(f.args(kubeconfig, policies), sharingArgs(name, f.sharing)...))
		if err != nil {
			return nil, err
		}
		f.processes = append(f.processes, p)
	}
	return f, nil
}

// policyFiles are the policies that the controller reads.
var policyFiles = []string{"replica-scheduling.yaml", "agent-node-label.yaml"}

func (f *fleet) args(kubeconfig, policies string) []string {
	out := []string{
		"run", "--kubeconfig", kubeconfig, "--health-probe-bind-address", "", "--log-level", "warn",
		"--extender-url", f.extender.URL, "--extender-ca-file", f.extender.CAFile,
		"--extender-cert-file", f.extender.ClientCertFile, "--extender-key-file", f.extender.ClientKeyFile,
	}
	for _, name := range policyFiles {
		out = append(out, "--policies", filepath.Join(policies, name))
	}
	return out
}

// sharingArgs are the flags of a process that shares the work. The limits of the
// installation would be divided among the processes.
func sharingArgs(identity string, sharing bool) []string {
	if !sharing {
		return nil
	}
	return []string{
		"--leader-elect", "--leader-elect-identity", identity, "--shards", strconv.Itoa(shardCount),
		"--default-change-limit", "none", "--default-removal-limit", "none",
	}
}

// start starts all processes.
func (f *fleet) start(ctx context.Context) error {
	for _, p := range f.processes {
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// restart stops all processes, and starts them again.
func (f *fleet) restart(ctx context.Context) error {
	f.stop()
	return f.start(ctx)
}

func (f *fleet) stop() {
	for _, p := range f.processes {
		p.end(syscall.SIGTERM)
	}
	for _, p := range f.processes {
		p.wait()
	}
}

func (f *fleet) close() {
	f.stop()
	_ = f.extender.Close()
}

// figures returns those of each process.
func (f *fleet) figures(ctx context.Context) ([]figures, error) {
	out := make([]figures, len(f.processes))
	for i, p := range f.processes {
		var err error
		if out[i], err = p.figures(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// held returns an error unless all shards are held.
func (f *fleet) held(all []figures) error {
	if held := total(all).shards; f.sharing && held != shardCount {
		return fmt.Errorf("%v of %d shards are held", held, shardCount)
	}
	return nil
}

// largest returns the number of the process that holds the most shards.
func (f *fleet) largest(ctx context.Context) (int, figures, error) {
	all, err := f.figures(ctx)
	if err != nil {
		return 0, figures{}, err
	}
	if len(all) == 0 {
		return 0, figures{}, errors.New("there is no process")
	}
	found := 0
	for i := range all {
		if all[i].shards > all[found].shards {
			found = i
		}
	}
	return found, all[found], nil
}
