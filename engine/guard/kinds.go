package guard

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// openKinds are the kinds of Kubernetes' own API groups that policies may write
// without an allowance, by group. A kind that is not listed is closed, so one
// that a later version of Kubernetes adds is closed too. Fields of open kinds
// can still be protected; see protectedField.
var openKinds = map[string][]string{
	"": {
		"ConfigMap", "Event", "LimitRange", "Namespace", "Node", "PersistentVolumeClaim", "Pod", "PodTemplate",
		"ReplicationController", "ResourceQuota", "Service",
	},
	"apps":                         {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"autoscaling":                  {"HorizontalPodAutoscaler"},
	"batch":                        {"CronJob", "Job"},
	"events.k8s.io":                {"Event"},
	"networking.k8s.io":            {"Ingress", "NetworkPolicy"},
	"policy":                       {"PodDisruptionBudget"},
	"resource.k8s.io":              {"ResourceClaim", "ResourceClaimTemplate"},
	"admissionregistration.k8s.io": nil,
	"apiextensions.k8s.io":         nil,
	"apiregistration.k8s.io":       nil,
	"authentication.k8s.io":        nil,
	"authorization.k8s.io":         nil,
	"certificates.k8s.io":          nil,
	"coordination.k8s.io":          nil, // who leads, and which nodes are alive
	"discovery.k8s.io":             nil, // where a Service's traffic goes
	"extensions":                   nil,
	"flowcontrol.apiserver.k8s.io": nil,
	"imagepolicy.k8s.io":           nil,
	"internal.apiserver.k8s.io":    nil,
	"node.k8s.io":                  nil,
	"rbac.authorization.k8s.io":    nil,
	"scheduling.k8s.io":            nil,
	"storage.k8s.io":               nil,
	"storagemigration.k8s.io":      nil,
}

// closedGroups are groups of other projects whose objects decide what may be
// done in the cluster, issue certificates, are policies themselves, or bring in what runs.
var closedGroups = []string{
	"edict.dev", "cert-manager.io", "acme.cert-manager.io", "trust.cert-manager.io", "snapshot.storage.k8s.io",
	// What runs in the cluster, from wherever they say; where traffic goes; which Secrets
	// are fetched or sent.
	"argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "image.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io",
	"gateway.networking.k8s.io", "networking.istio.io", "security.istio.io", "external-secrets.io", "generators.external-secrets.io", "monitoring.coreos.com",
	"kyverno.io", "policies.kyverno.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh", "config.gatekeeper.sh",
}

// Open reports whether policies may write objects of a kind without an
// allowance: a kind of Kubernetes itself when it is listed as open, a custom
// resource unless its group is listed as closed.
func Open(gvk schema.GVK) bool {
	group := gvk.Group()
	if kinds, builtin := openKinds[group]; builtin {
		return slices.Contains(kinds, gvk.Kind)
	}
	return !slices.Contains(closedGroups, group)
}

// systemNamespaces have the ConfigMaps by which the parts of the cluster are configured:
// whom API servers believe, and whom cloud providers map to which groups.
var systemNamespaces = []string{"kube-system", "kube-public"}

// rootCA is the ConfigMap of each namespace with the authority by which its Pods know the
// API server.
const rootCA = "kube-root-ca.crt"

// configuresCluster reports whether an object of an open kind is none that policies may
// write without an allowance.
func configuresCluster(gvk schema.GVK, namespace, name string) bool {
	return gvk.Group() == "" && gvk.Kind == "ConfigMap" && (slices.Contains(systemNamespaces, namespace) || name == rootCA)
}

// selfMade are ConfigMaps of kube-system that the API server makes.
var selfMade = []string{"extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking"}

// madeByKubernetes reports whether an object that configures the cluster is one that nobody
// has written: a controller of Kubernetes keeps it.
func madeByKubernetes(id world.ID) bool {
	return configuresCluster(id.GVK(), id.Namespace(), id.Name()) && (id.Name() == rootCA || id.Namespace() == systemNamespaces[0] && slices.Contains(selfMade, id.Name()))
}
