package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/utils/ptr"
)

// Lease names the Lease by which controllers agree who leads.
type Lease struct{ Namespace, Name string }

// ErrNoLeader reports that no process holds the Lease.
var ErrNoLeader = errors.New("no controller leads")

// Leader returns the Pod that holds a Lease. If there is no such Lease, since a release of the
// chart gives it its own name, and Pods of the chart hold just one other, it returns that Pod.
// The error is ErrNoLeader if no process leads, or the leader runs in no Pod of the namespace.
func Leader(ctx context.Context, client kubernetes.Interface, l Lease) (pod string, err error) {
	leases := client.CoordinationV1().Leases(l.Namespace)
	lease, err := leases.Get(ctx, l.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return onlyLeader(ctx, client, l)
	}
	if err != nil {
		return "", err
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if holder == "" {
		return "", fmt.Errorf("%w: nobody holds the Lease %s/%s", ErrNoLeader, l.Namespace, l.Name)
	}
	if pod, err = podOf(ctx, client, l.Namespace, holder); pod == "" && err == nil {
		err = fmt.Errorf("%w in a Pod of the namespace %s: the Lease %s is held by %s", ErrNoLeader, l.Namespace, l.Name, holder)
	}
	return pod, err
}

// podOf returns the Pod that an identity names, "" if there is none. An identity is the name of
// a Pod, alone or with a process ID.
func podOf(ctx context.Context, client kubernetes.Interface, namespace, identity string) (string, error) {
	for name := identity; name != ""; {
		if _, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			return name, nil
		} else if !apierrors.IsNotFound(err) {
			return "", err
		}
		at := strings.LastIndexAny(name, "-_")
		if at < 0 {
			break
		}
		name = name[:at]
	}
	return "", nil
}

// onlyLeader returns the Pod of the chart that holds a Lease of a namespace, if only one does.
func onlyLeader(ctx context.Context, client kubernetes.Interface, l Lease) (pod string, _ error) {
	none := fmt.Errorf("%w: there is no Lease %s/%s", ErrNoLeader, l.Namespace, l.Name)
	pods, err := client.CoreV1().Pods(l.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=edict"})
	if err != nil {
		return "", none // other Leases cannot be matched with Pods
	}
	leases, err := client.CoordinationV1().Leases(l.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", none
	}
	var names []string
	for i := range leases.Items {
		holder := ptr.Deref(leases.Items[i].Spec.HolderIdentity, "")
		if slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == holder }) {
			pod, names = holder, append(names, leases.Items[i].Name)
		}
	}
	switch len(names) {
	case 1:
		return pod, nil
	case 0:
		return "", none
	}
	return "", fmt.Errorf("%w, and several others are held: %s (choose one by --lease)", none, strings.Join(names, ", "))
}

// Forward carries connections to a port of a Pod, and returns the local address. The
// API server checks that the user may do so. It ends with the context.
func Forward(ctx context.Context, config *rest.Config, client kubernetes.Interface, namespace, pod string, port int) (address string, err error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return "", err
	}
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	ready := make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{fmt.Sprintf("0:%d", port)}, ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case err := <-failed:
		return "", fmt.Errorf("forwarding to Pod %s/%s: %w", namespace, pod, err)
	case <-ctx.Done():
		return "", ctx.Err()
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local), nil
}
