package controlplane

import (
	"context"
	"errors"
	"os/exec"

	"k8s.io/client-go/rest"
)

// errSecond answers a second call for what there can be one of.
var errSecond = errors.New("there is a second API server already")

// SecondAPIServer is an API server beside the first one, on the same etcd. It reads
// etcd through a relay, so that it can fall behind the first. Its requests are not in
// the audit log.
type SecondAPIServer struct {
	config *rest.Config
	relay  *relay
	child  *process
}

// StartSecondAPIServer starts another API server on the same etcd, and returns when
// it is ready. There can be one.
func (c *ControlPlane) StartSecondAPIServer(ctx context.Context) (*SecondAPIServer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.second != nil {
		return nil, errSecond
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	second := &SecondAPIServer{config: c.Config()}
	second.config.Host = localURL("https", port)
	if second.relay, err = newRelay(ctx, localURL("http", c.etcdPort)); err != nil {
		return nil, err
	}
	const name = "kube-apiserver-2"
	c.second = second
	command := exec.Command(c.binaries.APIServer, c.apiServerArguments(port, second.relay.port)...)
	if second.child, err = startProcess(name, c.LogPath(name), command); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return second, c.prober.await(ctx, second.child, second.config.Host+"/readyz")
}

// Config is a cluster administrator's client configuration for this API server.
func (s *SecondAPIServer) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Hold makes the API server fall behind: what etcd's watches tell waits, so its
// watches tell nothing and its cache is what it was. What it reads from etcd itself is
// as new as ever.
func (s *SecondAPIServer) Hold() { s.relay.hold() }

// Release ends Hold: what has waited comes, in order.
func (s *SecondAPIServer) Release() { s.relay.release() }

// Held returns how many answers of etcd's watches have had to wait.
func (s *SecondAPIServer) Held() int64 { return s.relay.held.Load() }

// Pause freezes the API server: connections stay open and nothing answers, until
// [SecondAPIServer.Resume].
func (s *SecondAPIServer) Pause() error { return Freeze(s.child.command.Process) }

// Resume ends a pause.
func (s *SecondAPIServer) Resume() error { return Thaw(s.child.command.Process) }

func (s *SecondAPIServer) stop() error {
	var err error
	if s.child != nil {
		err = s.child.kill()
	}
	return errors.Join(err, s.relay.close())
}
