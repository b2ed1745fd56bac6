package guard

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// TestEveryFieldIsJudged: each field of an open kind of Kubernetes is protected, or is among
// those that need no allowance, with the reason.
func TestEveryFieldIsJudged(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(needNothing)
	for group, kinds := range openKinds {
		for _, kind := range kinds {
			of, known := newest(group, kind)
			if !known {
				t.Errorf("%s of %q is open and unknown", kind, group)
				continue
			}
			for _, path := range fieldsOf(of) {
				if judged(patched{GVK: of, patch: true, theirs: true}, path) {
					continue
				}
				known := argued(kind, path)
				if known == "" {
					t.Errorf("%s.%s is neither protected nor argued harmless", kind, path)
				}
				delete(unused, known)
			}
		}
	}
	for field := range unused {
		t.Errorf("%s is argued harmless, and protected or unknown", field)
	}
}

// argued returns the entry of needNothing about a field, or about one above it.
func argued(kind, path string) string {
	for at := path; at != ""; at = at[:max(0, strings.LastIndex(at, "."))] {
		for _, known := range []string{kind + "." + at, "*." + at} {
			if needNothing[known] != "" {
				return known
			}
		}
	}
	if needNothing[kind+".*"] != "" {
		return kind + ".*"
	}
	return ""
}

// needNothing are fields without protection, each with the reason.
var needNothing = map[string]string{
	"*.metadata": "its own fields are judged by their names", "*.apiVersion": "says which object it is", "*.kind": "says which object it is",
	"ConfigMap.*": "what its texts mean only their readers know", "Event.*": "nothing is decided by it",
	"Namespace.spec.finalizers": "only the subresource finalize writes it",
	"*.spec.template":           "what runs in the Pods is judged field by field", "PodTemplate.template": "likewise", "*.spec.volumeClaimTemplates": "claims of the Pods' own",
	"*.spec.selector":                      "cannot be changed later, or has to match the template",
	"*.spec.revisionHistoryLimit":          "how many old ones are kept",
	"StatefulSet.spec.podManagementPolicy": "cannot be changed later", "StatefulSet.spec.serviceName": "cannot be changed later",
	"StatefulSet.spec.persistentVolumeClaimRetentionPolicy": "what becomes of its own claims",
	"*.status": "its controller writes it again", "PersistentVolumeClaim.spec": "cannot be changed later, or grows", "Node.spec.externalID": "nothing reads it",
	"CronJob.spec.concurrencyPolicy": "its own Jobs wait for each other", "CronJob.spec.failedJobsHistoryLimit": "how many old ones are kept",
	"CronJob.spec.successfulJobsHistoryLimit": "how many old ones are kept", "CronJob.spec.startingDeadlineSeconds": "how late a Job may begin", "CronJob.spec.timeZone": "when it begins, by less than a day",
	"CronJob.spec.jobTemplate": "of the Jobs that it will make; what runs in their Pods is judged field by field",
	"Job.spec.backoffLimit":    "how often its own Pods are tried", "Job.spec.backoffLimitPerIndex": "cannot be changed later", "Job.spec.completionMode": "cannot be changed later",
	"Job.spec.completions": "bounded by parallelism", "Job.spec.managedBy": "cannot be changed later", "Job.spec.manualSelector": "cannot be changed later",
	"Job.spec.maxFailedIndexes": "how often its own Pods are tried", "Job.spec.podFailurePolicy": "cannot be changed later", "Job.spec.podReplacementPolicy": "cannot be changed later",
	"Job.spec.successPolicy": "cannot be changed later", "ResourceClaimTemplate.spec.metadata": "its own fields are judged by their names",
	"Service.spec.allocateLoadBalancerNodePorts": "the same Pods, by another way", "Service.spec.externalTrafficPolicy": "the same Pods, by another way",
	"Service.spec.healthCheckNodePort": "cannot be changed later", "Service.spec.internalTrafficPolicy": "the same Pods, by another way", "Service.spec.ipFamilies": "the same Pods, by another way",
	"Service.spec.ipFamilyPolicy": "the same Pods, by another way", "Service.spec.loadBalancerClass": "cannot be changed later", "Service.spec.ports": "ports of the same Pods",
	"Service.spec.publishNotReadyAddresses": "Pods that the selector selects", "Service.spec.sessionAffinity": "the same Pods, in another order",
	"Service.spec.sessionAffinityConfig": "the same Pods, in another order", "Service.spec.trafficDistribution": "the same Pods, in another order",
}

// newest returns the kind in the last of its versions that the schemas have.
func newest(group, kind string) (schema.GVK, bool) {
	for _, version := range []string{"v2", "v1", "v1beta2", "v1beta1"} {
		of := schema.GVK{APIVersion: strings.TrimPrefix(group+"/"+version, "/"), Kind: kind}
		if _, known := schema.Builtin().Kind(of); known {
			return of, true
		}
	}
	return schema.GVK{}, false
}

// fieldsOf returns the fields of a kind: of its spec and status those in them, and of specs
// inside of it theirs.
func fieldsOf(gvk schema.GVK) (out []string) {
	var add func(of *schema.Type, path string)
	add = func(of *schema.Type, path string) {
		for _, name := range of.FieldNames() {
			at := strings.TrimPrefix(path+"."+name, ".")
			if below := of.Field(name); (name == "spec" || name == "status" || name == "jobTemplate") && below != nil && len(below.FieldNames()) > 0 {
				add(below, at)
				continue
			}
			out = append(out, at)
		}
	}
	of, _ := schema.Builtin().Kind(gvk)
	add(of, "")
	slices.Sort(out)
	return out
}

// judged reports whether a field, one above it or one below it is protected.
func judged(of patched, path string) bool {
	if protectedField(of, strings.Split(path, "."), leaf).danger != harmless {
		return true
	}
	return slices.ContainsFunc(protections, func(p protection) bool { return p.holds(of) && strings.HasPrefix(p.path, path+".") })
}
