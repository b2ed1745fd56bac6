// Command demo runs the real controller against a real kube-apiserver and
// etcd, and shows what it does to a small storage cluster: nodes become
// eligible and get their label, volumes find their nodes, and what stays
// NotReady past the grace period leaves and comes back. A kernel module is
// rolled out, and Deployments restart when their ConfigMap is edited.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

func main() {
	keep := flag.Bool("keep", false, "leave everything running at the end, until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demo(ctx, *keep)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// grace is the pools' grace period in the demo: long enough to see, short
// enough to wait for.
const grace = 8 * time.Second

func demo(ctx context.Context, keep bool) (err error) {
	say("A real control plane: etcd, kube-apiserver and kube-controller-manager, built from Go modules the first time.")
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stdout, ControllerManager: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := plane.InstallCRDs(ctx, filepath.Join("test", "crds")); err != nil {
		return err
	}
	c, err := newCluster(ctx, plane)
	if err != nil {
		return err
	}
	say("The storage cluster of examples/storage: 6 nodes in 3 zones, 2 pools (grace period here: %v).", grace)
	if err := c.fill(filepath.Join("examples", "storage")); err != nil {
		return err
	}
	if err := c.show(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "edict-demo")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	say("A real scheduler extender over HTTPS, which knows how much room the volume groups have.")
	asked, err := startExtender(ctx, folder)
	if err != nil {
		return err
	}
	defer asked.stop()
	if err := shipyard(c); err != nil {
		return err
	}
	stop, err := startController(ctx, plane, folder, asked.flags())
	if err != nil {
		return err
	}
	defer stop()
	if err := story(c, filepath.Join(folder, "log")); err != nil {
		return err
	}
	if err := modules(ctx, plane, c); err != nil {
		return err
	}
	if err := restarts(c); err != nil {
		return err
	}
	say("That was policy files and no line of controller code: look into policies/.")
	if keep {
		say("Everything keeps running; Ctrl-C ends it. Look around:\n  %s --kubeconfig %s get rsp,nodes -L %s", plane.Kubectl(), plane.Kubeconfig(), agentLabel)
		<-ctx.Done()
	}
	return nil
}

// startController builds edict and runs it as a process of its own, as an
// operator would.
func startController(ctx context.Context, plane *controlplane.ControlPlane, folder string, more []string) (stop func(), err error) {
	binary := filepath.Join(folder, "edict")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/edict")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building edict: %w", err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	args := []string{"run", "--kubeconfig", plane.Kubeconfig(), "--policies", "policies", "--param", "kmm-node-modules.workerImage=kmm-worker:latest", "--log-level", "debug", "--metrics-bind-address", "", "--health-probe-bind-address", ""}
	args = append(args, more...)
	say("The controller: edict run --policies policies --extender-url %s", more[1])
	command := exec.CommandContext(ctx, binary, args...)
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 30 * time.Second
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended already
		_ = command.Wait()                          // its own exit says nothing new here
		_ = log.Close()
	}, nil
}

// story is what the demo shows.
func story(c *cluster, log string) error {
	const worker = "node-b1"
	if err := c.until("The nodes that the pools can use are listed in their status, and get the label that starts the storage agent.",
		func(s state) bool { return s.pools["data"] != nil && s.labelled[worker] }); err != nil {
		return err
	}
	if err := c.untilPlaced("The replicas of the volumes get a node and a volume group. The score is the extender's, with what the policy adds.", log); err != nil {
		return err
	}
	if err := c.ready(worker, false); err != nil {
		return err
	}
	if err := c.until(worker+" is NotReady now. Within the grace period it stays listed, with ready=no.",
		func(s state) bool { return s.listed(worker) && !s.readyIn(worker) }); err != nil {
		return err
	}
	if err := c.until(fmt.Sprintf("It stays NotReady. %v after its transition it leaves the lists and loses the label.", grace),
		func(s state) bool { return !s.listed(worker) && !s.labelled[worker] }); err != nil {
		return err
	}
	if err := c.ready(worker, true); err != nil {
		return err
	}
	if err := c.until(worker+" is Ready again, and back.",
		func(s state) bool { return s.listed(worker) && s.readyIn(worker) && s.labelled[worker] }); err != nil {
		return err
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf("\n== "+format+"\n", args...) }
