// Package controlplane runs a real Kubernetes control plane on this machine,
// for tests, benches and the demo: etcd, kube-apiserver and, if asked for,
// kube-controller-manager, each a child process listening on 127.0.0.1.
//
// What it owns: the binaries (built once from Go modules into a cache folder
// outside the tree, see [Build]), a temporary folder with keys, data and logs,
// and the child processes. [ControlPlane.Stop] leaves none of the latter two
// behind, and no goroutine; if this process is killed, the children die too.
//
// What it never does: run containers or Nodes. A Node is an object that a test
// writes; a Pod stays Pending until a test changes its status. For that reason
// the controllers that judge Nodes by their heartbeats are off.
//
// The one invariant: everything a [ControlPlane] hands out (address, keys,
// kubeconfig) stays valid while its API server is stopped, paused or restarted,
// so faults look to a client as they would in a cluster.
//
//	plane, err := controlplane.Start(ctx, controlplane.Options{})
//	if err != nil {
//		return err
//	}
//	defer plane.Stop()
//	err = plane.InstallCRDs(ctx, "../crds")
//	...
//	client, err := kubernetes.NewForConfig(plane.Config())
package controlplane
