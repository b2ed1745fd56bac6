package guard

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
)

// TestApprovals: an allowance opens requests for one signer, or for those of a domain, and
// no other field does.
func TestApprovals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		field, signer string
		allowed       bool
	}{
		"the signer":            {"approve:example.com/node", "example.com/node", true},
		"another signer":        {"approve:example.com/node", "example.com/node2", false},
		"a signer of a domain":  {"approve:example.com/*", "example.com/node", true},
		"of a longer domain":    {"approve:example.com/*", "example.com.evil/node", false},
		"of a subdomain":        {"approve:example.com/*", "a.example.com/node", false},
		"a domain for a signer": {"approve:example.com/node", "example.com/*", false},
		"a domain":              {"approve:example.com/*", "example.com/*", true},
		"everything":            {"*", "kubernetes.io/kube-apiserver-client", true},
		"fields":                {"status.conditions", "example.com/node", false},
		"a field before":        {"approve:example", "example.com/node", false},
		"no signer":             {"approve:", "example.com/node", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &Guard{Allowed: []Allowance{{Policy: "p", Group: "certificates.k8s.io", Kind: "CertificateSigningRequest", Field: tc.field}}}
			e := effect("CertificateSigningRequest", object{"status": object{"conditions": []any{object{"type": "Approved"}}}})
			e.Verb, e.Signer = eval.VerbApprove, tc.signer
			err := check(g, "p", e)
			if (err == nil) != tc.allowed || err != nil && !strings.Contains(err.Error(), "the policy p may not approve or deny objects of kind CertificateSigningRequest for the signer "+tc.signer) {
				t.Errorf("got %v", err)
			}
			if e.Verb = eval.VerbPatch; tc.allowed && tc.field != Everything && check(g, "p", e) == nil {
				t.Error("the allowance opens a patch")
			}
		})
	}
}
