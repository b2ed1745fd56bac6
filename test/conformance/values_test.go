package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// TestValuesRefused: a real server has taken each whole object, and has refused each value
// that is not listed.
func TestValuesRefused(t *testing.T) {
	t.Parallel()
	records, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	list, err := values()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		for i, r := range s.Requests {
			switch code := records[s.Name].Answers[i].Code; {
			case i == 0 && code != http.StatusOK:
				t.Errorf("%s: the answer is %d", describe(r), code)
			case strings.Contains(describe(r), "Unlisted") && code != http.StatusUnprocessableEntity:
				t.Errorf("%s: the answer is %d", describe(r), code)
			}
		}
	}
}

// untried are the types with bounded values that no object of testdata/values.yaml has.
var untried = map[string]string{
	"io.k8s.api.core.v1.Lifecycle stopSignal":                         "the API server takes one only with spec.os",
	"io.k8s.api.core.v1.PodSpec preemptionPolicy":                     "admission refuses any value that is not that of the priority class",
	"io.k8s.api.core.v1.PodSpec priorityClassName":                    "admission refuses the name of a class that there is not",
	"io.k8s.api.core.v1.EphemeralContainer imagePullPolicy":           "they have a subresource of their own",
	"io.k8s.api.core.v1.EphemeralContainer terminationMessagePolicy":  "they have a subresource of their own",
	"io.k8s.api.certificates.v1.CertificateSigningRequestSpec usages": "a request needs a signed text",
	"io.k8s.api.resource.v1.DeviceTaint effect":                       "drivers publish them",
}

// TestValuesMet: each type with bounded values that a built-in kind has is tried.
func TestValuesMet(t *testing.T) {
	t.Parallel()
	list, err := objectsIn("testdata/values.yaml", valuesText)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for _, k := range list {
		for _, l := range boundedIn(schema.Builtin().Of(k.GVK), "", k.base, nil) {
			met[l.definition+" "+l.name()] = true
		}
	}
	listed := map[string]bool{}
	for _, k := range served() {
		bounding(schema.Builtin().Of(k), "", "", listed, map[*schema.Type]bool{})
	}
	for _, of := range slices.Sorted(maps.Keys(listed)) {
		if !met[of] && untried[of] == "" {
			t.Errorf("no object of testdata/values.yaml has %s", of)
		}
	}
	for of := range untried {
		if met[of] || !listed[of] {
			t.Errorf("%s is tried, or bounds no values", of)
		}
	}
}

// bounding notes where a type bounds values, the status of an object aside: definition and
// field are where it stands.
func bounding(t *schema.Type, definition, field string, out map[string]bool, seen map[*schema.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	if len(candidates(t, definition, field)) > 0 {
		out[definition+" "+field] = true
	}
	if t.Kind == schema.List || t.Kind == schema.Map {
		bounding(t.Elem, definition, field, out, seen)
		return
	}
	seen[t] = true
	for name, of := range t.Fields {
		if name != "status" || t.Fields["metadata"] == nil {
			bounding(of, t.Name, name, out, seen)
		}
	}
}

// versions are the API versions whose kinds people write.
var versions = []string{
	"admissionregistration.k8s.io/v1", "apps/v1", "autoscaling/v2", "batch/v1", "certificates.k8s.io/v1", "coordination.k8s.io/v1", "discovery.k8s.io/v1",
	"networking.k8s.io/v1", "node.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "resource.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1", "v1",
}

// served are the built-in kinds that have a resource.
func served() (out []schema.GVK) {
	for _, version := range versions {
		for _, kind := range schema.Builtin().Kinds(version) {
			gvk := schema.GVK{APIVersion: version, Kind: kind}
			if _, ok := schema.Builtin().Resource(gvk); ok {
				out = append(out, gvk)
			}
		}
	}
	return out
}
