// Package kubelet plays the kubelets of Nodes that have none: Pods that are
// bound to a Node run, end as they are told, and go when they are deleted.
// Nodes can be rebooted. Nothing is executed; everything else is as on a real
// node, seen from the API server.
package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Outcome is how a Pod ends.
type Outcome int

// The outcomes.
const (
	// Succeed ends the Pod with phase Succeeded.
	Succeed Outcome = iota
	// Fail ends it with phase Failed, as an evicted Pod does.
	Fail
	// Crash keeps it Running while its containers restart.
	Crash
	// Hang keeps it Running.
	Hang
	// Stay leaves it Pending, as an image that cannot be pulled does.
	Stay
)

// Kubelets play the kubelets of all Nodes of a cluster.
type Kubelets struct {
	client kubernetes.Interface
	pods   cache.SharedIndexInformer
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	decide func(*corev1.Pod) Outcome
	wg     sync.WaitGroup
	stop   context.CancelFunc
}

// workers is how many Pods are served at once.
const workers = 4

// Start plays kubelets until Stop. decide says how each Pod ends; nil lets all
// succeed. It may change its mind about Pods that have not ended: Again tells.
func Start(ctx context.Context, config *rest.Config, decide func(*corev1.Pod) Outcome) (*Kubelets, error) {
	fast := rest.CopyConfig(config)
	fast.QPS, fast.Burst = -1, 0
	client, err := kubernetes.NewForConfig(fast)
	if err != nil {
		return nil, err
	}
	if decide == nil {
		decide = func(*corev1.Pod) Outcome { return Succeed }
	}
	ctx, stop := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	k := &Kubelets{
		client: client, pods: factory.Core().V1().Pods().Informer(), decide: decide, stop: stop,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Second)),
	}
	if _, err := k.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: k.see, UpdateFunc: func(_, o any) { k.see(o) },
	}); err != nil {
		stop()
		return nil, err
	}
	factory.Start(ctx.Done())
	for range workers {
		k.wg.Go(func() { k.work(ctx) })
	}
	k.wg.Go(func() {
		<-ctx.Done()
		k.queue.ShutDown()
		factory.Shutdown()
	})
	return k, nil
}

// Stop ends the play.
func (k *Kubelets) Stop() {
	k.stop()
	k.wg.Wait()
}

// Again looks at every Pod again.
func (k *Kubelets) Again() {
	for _, o := range k.pods.GetStore().List() {
		k.see(o)
	}
}

func (k *Kubelets) see(o any) {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		k.queue.Add(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	}
}

func (k *Kubelets) work(ctx context.Context) {
	for {
		name, shutdown := k.queue.Get()
		if shutdown {
			return
		}
		if err := k.serve(ctx, name); err != nil && ctx.Err() == nil {
			k.queue.AddRateLimited(name)
		} else {
			k.queue.Forget(name)
		}
		k.queue.Done(name)
	}
}

// serve moves a Pod one step on.
func (k *Kubelets) serve(ctx context.Context, name types.NamespacedName) error {
	o, exists, err := k.pods.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return err
	}
	p, _ := o.(*corev1.Pod)
	switch {
	case p.DeletionTimestamp != nil && len(p.Finalizers) == 0:
		return k.remove(ctx, p)
	case p.DeletionTimestamp != nil, p.Status.Phase == corev1.PodSucceeded, p.Status.Phase == corev1.PodFailed:
		return nil
	}
	return k.settle(ctx, p, k.decide(p))
}

// remove confirms that a Pod's containers have stopped.
func (k *Kubelets) remove(ctx context.Context, p *corev1.Pod) error {
	now := int64(0)
	err := k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &p.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (k *Kubelets) settle(ctx context.Context, p *corev1.Pod, outcome Outcome) error {
	status := corev1.PodStatus{Phase: corev1.PodRunning}
	restarts := int32(0)
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}}
	switch outcome {
	case Stay:
		return nil
	case Succeed:
		status.Phase, state = corev1.PodSucceeded, ended
	case Fail:
		status.Phase, state = corev1.PodFailed, ended
	case Crash:
		restarts, state = 1, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	}
	for _, c := range p.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, RestartCount: restarts, State: state})
	}
	if p.Status.Phase == status.Phase && len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount == restarts {
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Ready makes a Node Ready or not, from now on.
func (k *Kubelets) Ready(ctx context.Context, node string, ready bool) error {
	status := map[bool]string{true: "True", false: "False"}[ready]
	return k.status(ctx, node, fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Played","message":"","lastTransitionTime":%q}]}}`,
		status, time.Now().UTC().Format(time.RFC3339)))
}

// Reboot stops a Node and starts it with a kernel, under a new boot ID.
func (k *Kubelets) Reboot(ctx context.Context, node, kernel, bootID string) error {
	if err := k.Ready(ctx, node, false); err != nil {
		return err
	}
	if err := k.status(ctx, node, fmt.Sprintf(`{"status":{"nodeInfo":{"kernelVersion":%q,"bootID":%q}}}`, kernel, bootID)); err != nil {
		return err
	}
	return k.Ready(ctx, node, true)
}

func (k *Kubelets) status(ctx context.Context, node, body string) error {
	_, err := k.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(body), metav1.PatchOptions{}, "status")
	return err
}
