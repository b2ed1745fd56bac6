package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// Lease names the Lease by which controllers agree who leads.
type Lease struct{ Namespace, Name string }

// ErrNoLeader reports that no process holds the Lease.
var ErrNoLeader = errors.New("no controller leads")

// Leader returns the Pod that holds a Lease. The error is ErrNoLeader when nobody
// does, or the process that does runs in no Pod of the namespace.
func Leader(ctx context.Context, client kubernetes.Interface, l Lease) (pod string, err error) {
	lease, err := find(ctx, client, l)
	if err != nil {
		return "", err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return "", fmt.Errorf("%w: nobody holds the Lease %s/%s", ErrNoLeader, l.Namespace, l.Name)
	}
	holder := *lease.Spec.HolderIdentity
	// The identity is the name of the host, which is that of the Pod, and the number
	// of the process.
	for name := holder; name != ""; {
		if _, err := client.CoreV1().Pods(l.Namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
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
	return "", fmt.Errorf("%w in a Pod of the namespace %s: the Lease %s is held by %s", ErrNoLeader, l.Namespace, l.Name, holder)
}

// ofSelector ends the name of the Lease of an installation with a watch label selector.
var ofSelector = regexp.MustCompile(`^-[0-9a-f]{8}$`)

// find returns a Lease, or the only one of that name with the hash of a selector behind it.
func find(ctx context.Context, client kubernetes.Interface, l Lease) (*coordinationv1.Lease, error) {
	leases := client.CoordinationV1().Leases(l.Namespace)
	lease, err := leases.Get(ctx, l.Name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return lease, err
	}
	var found []coordinationv1.Lease
	if list, err := leases.List(ctx, metav1.ListOptions{}); err == nil {
		found = slices.DeleteFunc(list.Items, func(one coordinationv1.Lease) bool {
			rest, ok := strings.CutPrefix(one.Name, l.Name)
			return !ok || !ofSelector.MatchString(rest)
		})
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	return nil, fmt.Errorf("%w: there is no Lease %s/%s%s", ErrNoLeader, l.Namespace, l.Name, others(ctx, client, l.Namespace))
}

// others names the Leases that a namespace has instead, if they may be listed: that of an
// installation has its name.
func others(ctx context.Context, client kubernetes.Interface, namespace string) string {
	list, err := client.CoordinationV1().Leases(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return ""
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	const most = 3
	return ", but " + strings.Join(names[:min(len(names), most)], ", ") + " (--lease " + names[0] + ")"
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
