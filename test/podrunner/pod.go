package podrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is the life of one Pod.
type pod struct {
	runner  *Runner
	object  *corev1.Pod
	address string
	folder  string

	deleted    chan struct{} // closed when the API server has a deletion time
	deleteOnce sync.Once

	restarts int32
}

// Waits between two tries of what did not succeed.
const (
	retryWait       = 200 * time.Millisecond
	restartWait     = time.Second
	longRestartWait = 10 * time.Second
)

// live runs the Pod's container until it has ended for good or the Pod is
// deleted, and then waits for the deletion, to confirm it.
func (p *pod) live(ctx context.Context) {
	for again, wait := true, retryWait; again && p.sleep(ctx, wait); {
		again, wait = p.runOnce(ctx)
	}
	select {
	case <-p.deleted:
		p.remove(ctx)
	case <-ctx.Done():
	}
}

// runOnce starts the container and follows it to its end. It gives whether it
// should be started again, and when.
func (p *pod) runOnce(ctx context.Context) (again bool, wait time.Duration) {
	command, err := p.prepare(ctx)
	if err != nil {
		p.report(ctx, state{waiting: "CreateContainerConfigError", message: err.Error()})
		return true, retryWait
	}
	child, err := startProcess(command, p.folder+".log")
	if err != nil {
		p.report(ctx, state{waiting: "RunContainerError", message: err.Error()})
		return true, retryWait
	}
	start := metav1.Now()
	p.follow(ctx, child, start)
	ended := &corev1.ContainerStateTerminated{ExitCode: child.code, StartedAt: start, FinishedAt: metav1.Now(), Reason: "Completed"}
	if child.code != 0 {
		ended.Reason = "Error"
	}
	again = p.isRestarted(child.code)
	p.report(ctx, state{ended: ended, final: !again})
	if again {
		p.restarts++
	}
	return again, min(time.Duration(p.restarts)*restartWait, longRestartWait)
}

func (p *pod) isRestarted(code int32) bool {
	select {
	case <-p.deleted:
		return false
	default:
	}
	switch p.object.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	default:
		return true
	}
}

// follow asks the probes while the child runs, and ends it when the Pod is
// deleted or is not alive any more.
func (p *pod) follow(ctx context.Context, child *process, start metav1.Time) {
	probes := newProbes(p.object.Spec.Containers[0], p.address)
	known := state{running: &start, ready: probes.ready}
	p.report(ctx, known)
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-child.ended:
			return
		case <-ctx.Done():
			child.kill()
			return
		case <-p.deleted:
			p.terminate(ctx, child)
			return
		case <-ticker.C:
		}
		if !probes.ask(ctx) {
			p.terminate(ctx, child)
			return
		}
		if known.ready != probes.ready {
			known.ready = probes.ready
			p.report(ctx, known)
		}
	}
}

// terminate returns the child its grace period.
func (p *pod) terminate(ctx context.Context, child *process) {
	grace := 30 * time.Second
	if s := p.object.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	child.signal(syscall.SIGTERM)
	select {
	case <-child.ended:
	case <-time.After(grace):
		fmt.Fprintf(os.Stderr, "the Pod %s did not end within %s\n", p.object.Name, grace)
		child.kill()
	case <-ctx.Done():
		child.kill()
	}
}

// remove confirms that the Pod's process has gone.
func (p *pod) remove(ctx context.Context) {
	now := int64(0)
	for {
		err := p.runner.client.CoreV1().Pods(p.object.Namespace).Delete(ctx, p.object.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &p.object.UID}})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || errors.Is(err, context.Canceled) {
			return
		}
		if !p.sleep(ctx, retryWait) {
			return
		}
	}
}

// sleep waits, unless something ends the Pod meanwhile.
func (p *pod) sleep(ctx context.Context, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-p.deleted:
		return false
	case <-ctx.Done():
		return false
	}
}
