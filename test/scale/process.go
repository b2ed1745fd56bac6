package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// process is a controller.
type process struct {
	binary, metrics, log string
	args                 []string
	command              *exec.Cmd
}

func newProcess(folder, binary string, args []string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	return &process{
		binary: binary, metrics: address, log: filepath.Join(folder, "edict.log"),
		args: append(args, "--metrics-bind-address", address),
	}, listener.Close()
}

// start starts the process.
func (p *process) start(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.CommandContext(ctx, p.binary, p.args...)
	p.command.Stdout, p.command.Stderr = log, log
	return p.command.Start()
}

// end sends a signal that ends the process.
func (p *process) end(s syscall.Signal) {
	if p.command != nil {
		_ = p.command.Process.Signal(s)
	}
}

// wait waits until the process has ended.
func (p *process) wait() {
	if p.command != nil {
		_ = p.command.Wait()
		p.command = nil
	}
}

var errNotUp = errors.New("the metrics endpoint does not answer yet")

func (p *process) figures(ctx context.Context) (f figures, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", nil)
	if err != nil {
		return f, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return f, errNotUp
	}
	defer response.Body.Close()
	return read(response.Body)
}
