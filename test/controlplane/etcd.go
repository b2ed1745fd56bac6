package controlplane

import (
	"context"
	"errors"
	"os"
)

// StopEtcd kills etcd, as a crash would. The API server stays, and answers
// nothing that needs it.
func (c *ControlPlane) StopEtcd() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd == nil {
		return nil
	}
	child := c.etcd
	c.etcd = nil
	return child.kill()
}

// StartEtcd starts etcd with the data that is there. It does nothing while it
// runs.
func (c *ControlPlane) StartEtcd(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return c.startEtcd(ctx)
}

// SaveEtcd copies etcd's data. Etcd and the API server are stopped for it and
// started again.
func (c *ControlPlane) SaveEtcd(ctx context.Context) error {
	return c.withoutEtcd(ctx, func() error {
		if err := os.RemoveAll(c.path("etcd-saved")); err != nil {
			return err
		}
		return os.CopyFS(c.path("etcd-saved"), os.DirFS(c.path("etcd")))
	})
}

// RestoreEtcd brings back the data of [ControlPlane.SaveEtcd]: what was written
// since is gone, and resource versions are given a second time.
func (c *ControlPlane) RestoreEtcd(ctx context.Context) error {
	return c.withoutEtcd(ctx, func() error {
		if err := os.RemoveAll(c.path("etcd")); err != nil {
			return err
		}
		return os.CopyFS(c.path("etcd"), os.DirFS(c.path("etcd-saved")))
	})
}

func (c *ControlPlane) withoutEtcd(ctx context.Context, do func() error) error {
	if err := errors.Join(c.StopAPIServer(), c.StopEtcd()); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if err := c.StartEtcd(ctx); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}
