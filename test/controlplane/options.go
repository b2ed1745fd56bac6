package controlplane

import "io"

// Options says which control plane [Start] brings up. The zero value is etcd
// and kube-apiserver, which is all that most tests need.
type Options struct {
	// ControllerManager adds kube-controller-manager: garbage collection of
	// owned objects, service accounts, Deployments and the like.
	ControllerManager bool

	// Controllers is the --controllers list of the controller manager. Nil is
	// every controller but those that would declare Nodes without a kubelet
	// dead and evict their Pods.
	Controllers []string

	// AuditLog records every request to [ControlPlane.AuditLogPath], one JSON
	// audit.k8s.io/v1 Event a line; writes are recorded with their bodies.
	AuditLog bool

	// APIServerArgs are further flags of kube-apiserver.
	APIServerArgs []string

	// Log receives the progress of builds. Nil is standard error.
	Log io.Writer
}

// defaultControllers leaves out what needs a kubelet on every Node.
var defaultControllers = []string{"*", "-node-lifecycle-controller", "-taint-eviction-controller"}

func (o Options) controllers() []string {
	if o.Controllers == nil {
		return defaultControllers
	}
	return o.Controllers
}
