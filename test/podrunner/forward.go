package podrunner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Forward listens on localhost for a Service that may come later, and carries
// every connection to a ready Pod of it. It gives the port.
func (r *Runner) Forward(ctx context.Context, service string) (string, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	end := r.stop
	r.stop = func() {
		stop()
		listener.Close()
		end()
	}
	r.wg.Go(func() {
		for {
			connection, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				r.wg.Go(func() { r.carry(running, connection, service) })
			}
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// carry ends when both ends have, or when the runner stops.
func (r *Runner) carry(ctx context.Context, from net.Conn, service string) {
	defer from.Close()
	address, err := r.endpoint(ctx, service)
	if err != nil {
		return
	}
	var dial net.Dialer
	to, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	stop := context.AfterFunc(ctx, func() { from.Close(); to.Close() })
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { _, _ = io.Copy(to, from); to.Close() })
	group.Go(func() { _, _ = io.Copy(from, to); from.Close() })
	group.Wait()
}

// endpoint is the address of a ready Pod of a Service.
func (r *Runner) endpoint(ctx context.Context, name string) (string, error) {
	service, err := r.client.CoreV1().Services(r.options.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	pods, err := r.client.CoreV1().Pods(r.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
	if err != nil {
		return "", err
	}
	for _, p := range pods.Items {
		if port := portOf(p, service.Spec.Ports[0].TargetPort.String()); port != "" && isReady(p) {
			return net.JoinHostPort(p.Status.PodIP, port), nil
		}
	}
	return "", fmt.Errorf("no ready Pod of the Service %s", name)
}

func isReady(p corev1.Pod) bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil
		}
	}
	return false
}

func portOf(p corev1.Pod, name string) string {
	for _, port := range p.Spec.Containers[0].Ports {
		if number := strconv.Itoa(int(port.ContainerPort)); port.Name == name || number == name {
			return number
		}
	}
	return ""
}
