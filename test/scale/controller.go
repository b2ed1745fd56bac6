package main

import (
	"context"
	"path/filepath"
	"syscall"

	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/extender"
)

// controller is the process that is measured, and the extender that it asks.
type controller struct {
	sizes    sizes
	extender *extender.Running
	*process
}

func newController(folder, kubeconfig string, o options, s sizes) (*controller, error) {
	running, err := extender.ListenTLS(folder)
	if err != nil {
		return nil, err
	}
	capacity := map[extender.Pool]extender.Capacity{}
	for i := range 2 * s.nodes {
		capacity[extender.Pool{Name: objects.GroupName(i/2, i%2)}] = extender.Capacity{Size: 1 << 50}
	}
	running.Server.SetCapacity(capacity)
	c := &controller{sizes: s, extender: running}
	c.process, err = newProcess(folder, o.binary, c.args(kubeconfig))
	return c, err
}

func (c *controller) args(kubeconfig string) []string {
	return []string{
		"run", "--kubeconfig", kubeconfig, "--health-probe-bind-address", "", "--log-level", "warn",
		"--extender-url", c.extender.URL, "--extender-ca-file", c.extender.CAFile,
		"--extender-cert-file", c.extender.ClientCertFile, "--extender-key-file", c.extender.ClientKeyFile,
		"--policies", filepath.Join("policies", "replica-scheduling.yaml"), "--policies", filepath.Join("policies", "agent-node-label.yaml"),
		"--allowances", filepath.Join("policies", "allowances.yaml"),
	}
}

// restart stops the process, and starts it again.
func (c *controller) restart(ctx context.Context) error {
	c.stop()
	return c.start(ctx)
}

func (c *controller) stop() {
	c.end(syscall.SIGTERM)
	c.wait()
}

func (c *controller) close() {
	c.stop()
	_ = c.extender.Close()
}
