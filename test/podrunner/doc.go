// Package podrunner runs the Pods of one namespace as processes of this machine:
// a scheduler and a kubelet for a test whose containers are one known program.
//
// What it does as a kubelet does: it waits for the ConfigMaps and Secrets that
// are mounted, expands $(VAR) and the downward API, gives the process the token
// of the Pod's ServiceAccount, asks the probes over HTTP, starts a container
// again that ended, reports all of that in the Pod's status, sends SIGTERM when
// the Pod is deleted, and removes the Pod when the process has gone. Deployments
// and Jobs therefore come to rest as in a cluster, and helm --wait means it.
//
// Run by root, processes have the Pod's user, who may write nowhere that a
// program would look for.
//
// What it cannot do: there is no container, so the image and the root are not
// those of the Pod. Paths below a mount are rewritten in arguments to a temporary
// folder, ":port" to an address of the loopback range that the Pod has for
// itself, and the token comes through KUBECONFIG. Mounted files do not follow
// their ConfigMap. Pods have one container and no others.
package podrunner
