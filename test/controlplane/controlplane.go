package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// ControlPlane is a running control plane. Its methods may be called from
// several goroutines.
type ControlPlane struct {
	options  Options
	binaries *Binaries
	folder   string // keys, data and logs; removed by Stop
	config   *rest.Config
	prober   *prober

	etcdPort, apiPort, managerPort string

	mu                       sync.Mutex
	etcd, apiServer, manager *process
	second                   *SecondAPIServer
}

// readyTimeout bounds the start of one control plane. Three seconds are usual;
// the rest is for machines that are busy compiling tests.
const readyTimeout = 2 * time.Minute

// Start builds the binaries if need be, starts a control plane and returns when
// it serves. ctx bounds the start alone: the control plane runs until
// [ControlPlane.Stop].
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.Log == nil {
		options.Log = os.Stderr
	}
	binaries, err := Build(ctx, options.Log)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: options, binaries: binaries}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	// The API server is ready a moment before it has made this namespace.
	if err := c.prober.await(ctx, c.apiServer, c.url("/api/v1/namespaces/default")); err != nil {
		return err
	}
	if !c.options.ControllerManager {
		return nil
	}
	return c.startManager(ctx)
}

// prepare chooses ports and writes every file that the components read.
func (c *ControlPlane) prepare() (err error) {
	if c.folder, err = os.MkdirTemp("", "edict-controlplane-"); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	for _, port := range []*string{&c.etcdPort, &c.apiPort, &c.managerPort} {
		if *port, err = FreePort(); err != nil {
			return err
		}
	}
	authority, admin, err := writeKeys(c.folder)
	if err != nil {
		return err
	}
	c.config = newConfig(c.url(""), authority, admin)
	if c.prober, err = newProber(authority, admin); err != nil {
		return err
	}
	if err := writeAuditPolicy(c.path(auditPolicyFile)); err != nil {
		return err
	}
	return writeKubeconfig(c.Kubeconfig(), c.config)
}

// Stop ends the components and removes the data. Nothing is worth a graceful
// end here, so it takes milliseconds. A second Stop does nothing.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failures []error
	if c.second != nil {
		failures = append(failures, c.second.stop())
		c.second = nil
	}
	for _, child := range []**process{&c.manager, &c.apiServer, &c.etcd} {
		if *child != nil {
			failures = append(failures, (*child).kill())
			*child = nil
		}
	}
	if c.folder != "" {
		failures = append(failures, os.RemoveAll(c.folder))
	}
	return errors.Join(failures...)
}

// launch starts a component with its log in the control plane's folder.
func (c *ControlPlane) launch(path string, arguments []string) (*process, error) {
	name := filepath.Base(path)
	return startProcess(name, c.LogPath(name), exec.Command(path, arguments...))
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.folder, name) }

// url is an address of the API server.
func (c *ControlPlane) url(path string) string { return localURL("https", c.apiPort) + path }
