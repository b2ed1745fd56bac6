package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/extender"
)

// extenderProcess is the scheduler extender, a process of its own.
type extenderProcess struct {
	url, folder string
	command     *exec.Cmd
}

// startExtender builds and runs the extender over HTTPS, with the room that
// the volume groups of the example have.
func startExtender(ctx context.Context, folder string) (*extenderProcess, error) {
	capacity, err := capacities(filepath.Join("examples", "storage"))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "capacity.json")
	if err := os.WriteFile(file, capacity, 0o600); err != nil {
		return nil, err
	}
	binary := filepath.Join(folder, "extender")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./test/extender/cmd/extender")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building the extender: %w", err)
	}
	e := &extenderProcess{folder: filepath.Join(folder, "certs")}
	e.command = exec.CommandContext(ctx, binary, "--capacity", file, "--generate-certs", e.folder)
	e.command.Stderr = os.Stderr
	e.command.Cancel = func() error { return e.command.Process.Signal(syscall.SIGTERM) }
	e.command.WaitDelay = 10 * time.Second
	out, err := e.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the extender says nothing: %w", err)
	}
	e.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	return e, nil
}

// flags are the controller's settings for it.
func (e *extenderProcess) flags() []string {
	file := func(name string) string { return filepath.Join(e.folder, name) }
	return []string{"--extender-url", e.url, "--extender-ca-file", file("ca.crt"), "--extender-cert-file", file("client.crt"), "--extender-key-file", file("client.key")}
}

func (e *extenderProcess) stop() {
	_ = e.command.Process.Signal(syscall.SIGTERM) // it may have ended already
	_ = e.command.Wait()                          // its own exit says nothing new here
}

// capacities returns every group and thin pool that a pool names 1 TiB, of which
// the later ones have used more.
func capacities(folder string) ([]byte, error) {
	objects, err := simulate.ReadObjects(folder, filepath.Join(folder, "answers.json"))
	if err != nil {
		return nil, err
	}
	var out []extender.PoolCapacity
	for _, o := range objects {
		if o["kind"] != "ReplicatedStoragePool" {
			continue
		}
		spec, _ := o["spec"].(object)
		groups, _ := spec["lvmVolumeGroups"].([]any)
		for _, item := range groups {
			ref, _ := item.(object)
			name, _ := ref["name"].(string)
			thin, _ := ref["thinPoolName"].(string)
			out = append(out, extender.PoolCapacity{
				Pool:     extender.Pool{Name: name, ThinPool: thin},
				Capacity: extender.Capacity{Size: 1 << 40, Used: int64(len(out)) << 37},
			})
		}
	}
	return json.Marshal(out)
}
