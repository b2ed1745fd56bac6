package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/extender"
)

// process is the controller.
type process struct {
	binary, metrics, log string
	args                 []string
	extender             *extender.Running
	command              *exec.Cmd
	// started is when it was started last.
	started time.Time
}

func newProcess(folder, binary, kubeconfig string, s sizes) (*process, error) {
	running, err := extender.ListenTLS(folder)
	if err != nil {
		return nil, err
	}
	capacity := map[extender.Pool]extender.Capacity{}
	for i := range 2 * s.nodes {
		capacity[extender.Pool{Name: objects.GroupName(i/2, i%2)}] = extender.Capacity{Size: 1 << 50}
	}
	running.Server.SetCapacity(capacity)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	return &process{
		binary: binary, metrics: address, log: filepath.Join(folder, "edict.log"), extender: running,
		args: []string{
			"run", "--kubeconfig", kubeconfig, "--policies", filepath.Join("policies", "replica-scheduling.yaml"), "--policies", filepath.Join("policies", "agent-node-label.yaml"),
			"--metrics-bind-address", address, "--health-probe-bind-address", "", "--policy-qps", "-1", "--log-level", "warn",
			"--extender-url", running.URL, "--extender-ca-file", running.CAFile, "--extender-cert-file", running.ClientCertFile, "--extender-key-file", running.ClientKeyFile,
		},
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
	p.started = time.Now()
	return p.command.Start()
}

// restart stops the process, and starts it again.
func (p *process) restart(ctx context.Context) error {
	p.stop()
	return p.start(ctx)
}

func (p *process) stop() {
	if p.command != nil {
		_ = p.command.Process.Signal(syscall.SIGTERM)
		_ = p.command.Wait()
		p.command = nil
	}
}

func (p *process) close() {
	p.stop()
	_ = p.extender.Close()
}

// figures are what the process says of itself.
type figures struct{ evaluations, writes, cpu, resident float64 }

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
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return f, err
	}
	for name, into := range map[string]*float64{
		"edict_evaluations_total": &f.evaluations, "edict_effects_total": &f.writes, "process_cpu_seconds_total": &f.cpu, "process_resident_memory_bytes": &f.resident,
	} {
		for _, m := range families[name].GetMetric() {
			*into += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return f, nil
}

// atRest is how long nothing must have been evaluated and written.
const atRest = 5 * time.Second

// measure prints what a phase takes, until the controller is at rest.
func (p *process) measure(ctx context.Context, name string, s sizes, do func(context.Context) error) error {
	fmt.Println(name)
	before, _ := p.figures(ctx)
	old, began := p.started, time.Now()
	if err := do(ctx); err != nil {
		return err
	}
	least := 0
	if p.started != old {
		before, least = figures{}, s.keys()
	}
	now, first, last, err := p.rest(ctx, before, least)
	if err != nil {
		return err
	}
	fmt.Printf("  %.0f evaluations, %.0f writes; %.1f s of CPU; first after %.1f s, at rest after %.1f s; %.0f MiB resident, %.1f KiB for each of %d objects\n",
		now.evaluations-before.evaluations, now.writes-before.writes, now.cpu-before.cpu, since(first, began), since(last, began),
		now.resident/(1<<20), now.resident/1024/float64(s.objects()), s.objects())
	return nil
}

func since(at, began time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return at.Sub(began).Seconds()
}

// rest waits until there were so many evaluations and nothing has happened for a
// while, and returns when the first and the last thing did.
func (p *process) rest(ctx context.Context, before figures, least int) (now figures, first, last time.Time, err error) {
	quiet := time.Now()
	up := false
	for seen := before; !up || time.Since(quiet) < atRest; {
		select {
		case <-ctx.Done():
			return now, first, last, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if now, err = p.figures(ctx); errors.Is(err, errNotUp) {
			quiet = time.Now()
			continue
		} else if err != nil {
			return now, first, last, err
		}
		up = up || now.evaluations >= float64(least)
		if now.evaluations != seen.evaluations || now.writes != seen.writes {
			if last = time.Now(); first.IsZero() {
				first = last
			}
			quiet, seen = last, now
		}
	}
	return now, first, last, nil
}
