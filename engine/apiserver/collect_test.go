package apiserver

import (
	"testing"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestOwnersAsTheyAreNamed: the garbage collector asks for the kind and the name of an owner
// and compares the uid. It leaves what has an owner of a kind that is not served.
func TestOwnersAsTheyAreNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		apiVersion, kind, name   string
		stays, staysWithoutOwner bool
	}{
		"as it is":              {"v1", "ServiceAccount", "owner", true, false},
		"another name":          {"v1", "ServiceAccount", "other", false, false},
		"another kind":          {"v1", "Secret", "owner", false, false},
		"a kind without server": {"v1", "ServiceAccounts", "owner", true, true},
		"another version":       {"v2", "ServiceAccount", "owner", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer()
			owner, err := s.Create(Object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": Object{"namespace": "ns", "name": "owner"}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(configMap(Object{"ownerReferences": []any{Object{"apiVersion": tc.apiVersion, "kind": tc.kind, "name": tc.name, "uid": metadata(owner)["uid"]}}}), Options{}); err != nil {
				t.Fatal(err)
			}
			child := world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "ConfigMap"}, "ns", "c")
			if got := s.Get(child) != nil; got != tc.stays {
				t.Errorf("stays: %v, want %v", got, tc.stays)
			}
			if err := s.Delete(ID(owner), Deletion{}); err != nil {
				t.Fatal(err)
			}
			if got := s.Get(child) != nil; got != tc.staysWithoutOwner {
				t.Errorf("stays without its owner: %v, want %v", got, tc.staysWithoutOwner)
			}
		})
	}
}
