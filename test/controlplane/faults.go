package controlplane

import (
	"context"
	"errors"
	"os"
)

// errStopped answers calls that need a running API server.
var errStopped = errors.New("kube-apiserver is not running")

// StartAPIServer starts the API server, at the same address as before, and
// returns when it is ready. It does nothing while one runs.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer == nil {
		child, err := c.launch(c.binaries.APIServer, c.apiServerArguments(c.apiPort, c.etcdPort))
		if err != nil {
			return err
		}
		c.apiServer = child
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return c.prober.await(ctx, c.apiServer, c.url("/readyz"))
}

// StopAPIServer kills the API server, as a crash would: connections break in
// the middle of requests, then are refused. What it had answered is in etcd.
func (c *ControlPlane) StopAPIServer() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer == nil {
		return nil
	}
	child := c.apiServer
	c.apiServer = nil
	return child.kill()
}

// RestartAPIServer is [ControlPlane.StopAPIServer], then
// [ControlPlane.StartAPIServer].
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	if err := c.StopAPIServer(); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// PauseAPIServer freezes the API server: connections stay open and nothing
// answers, until [ControlPlane.ResumeAPIServer].
func (c *ControlPlane) PauseAPIServer() error { return c.withAPIServer(Freeze) }

// ResumeAPIServer ends a pause.
func (c *ControlPlane) ResumeAPIServer() error { return c.withAPIServer(Thaw) }

func (c *ControlPlane) withAPIServer(do func(*os.Process) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer == nil {
		return errStopped
	}
	return do(c.apiServer.command.Process)
}

// APIServerPID is the process number of the API server, 0 while it is stopped.
func (c *ControlPlane) APIServerPID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer == nil {
		return 0
	}
	return c.apiServer.pid()
}
