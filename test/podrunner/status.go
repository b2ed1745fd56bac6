package podrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// state is what is to be said of a Pod: that it waits, runs or has ended.
type state struct {
	waiting, message string
	running          *metav1.Time
	ready            bool
	ended            *corev1.ContainerStateTerminated
	final            bool // it will not be started again
}

func (s state) phase() corev1.PodPhase {
	switch {
	case s.final && s.ended.ExitCode == 0:
		return corev1.PodSucceeded
	case s.final:
		return corev1.PodFailed
	case s.waiting != "":
		return corev1.PodPending
	default:
		return corev1.PodRunning
	}
}

func (s state) container() corev1.ContainerState {
	switch {
	case s.waiting != "":
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: s.waiting, Message: s.message}}
	case s.running != nil:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *s.running}}
	default:
		return corev1.ContainerState{Terminated: s.ended}
	}
}

func (p *pod) status(s state) corev1.PodStatus {
	started := s.running != nil
	container := p.object.Spec.Containers[0]
	out := corev1.PodStatus{
		Phase: s.phase(), PodIP: p.address, PodIPs: []corev1.PodIP{{IP: p.address}},
		StartTime: &p.object.CreationTimestamp,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, State: s.container(),
			Ready: s.ready, Started: &started, RestartCount: p.restarts,
		}},
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		is := corev1.ConditionTrue
		if !s.ready && (condition == corev1.ContainersReady || condition == corev1.PodReady) {
			is = corev1.ConditionFalse
		}
		out.Conditions = append(out.Conditions, corev1.PodCondition{Type: condition, Status: is, LastTransitionTime: metav1.Now()})
	}
	return out
}

// report writes the Pod's status, until the API server takes it.
func (p *pod) report(ctx context.Context, s state) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.object.UID}, "status": p.status(s)})
	if err != nil {
		panic(err) // plain data
	}
	for {
		_, err := p.runner.client.CoreV1().Pods(p.object.Namespace).Patch(ctx, p.object.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || errors.Is(err, context.Canceled) {
			return
		}
		fmt.Fprintf(os.Stderr, "the status of the Pod %s: %v\n", p.object.Name, err)
		if !p.sleep(ctx, retryWait) {
			return
		}
	}
}
