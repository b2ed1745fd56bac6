package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestApproval: what can be approved, and for which signers.
func TestApproval(t *testing.T) {
	t.Parallel()
	const of = "of: {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, name: a}"
	for name, tc := range map[string]struct{ fields, wrong string }{
		"a signer":                {of + ", signer: example.com/node", ""},
		"the signers of a domain": {of + ", signer: example.com/*", ""},
		"all that is taken":       {of + `, signer: example.com/a.b, approved: key.name == "a", reason: Known, message: "of ${key.name}"`, ""},
		"no signer":               {of, "approve needs a signer: the permissions follow from it"},
		"a computed one":          {of + `, signer: "example.com/${key.name}"`, "the signer cannot be computed"},
		"no domain":               {of + ", signer: node", `"node" cannot be the name of a signer`},
		"no path":                 {of + ", signer: example.com/", `"example.com/" cannot be the name of a signer`},
		"two paths":               {of + ", signer: example.com/a/b", `"example.com/a/b" cannot be the name of a signer`},
		"a part of a path":        {of + ", signer: example.com/a*", `"example.com/a*" cannot be the name of a signer`},
		"all signers":             {of + `, signer: "*"`, `"*" cannot be the name of a signer`},
		"all domains":             {of + `, signer: "*/*"`, `"*/*" cannot be the name of a signer`},
		"the primary object":      {"signer: example.com/node", "a Node of v1 cannot be approved, only a CertificateSigningRequest of certificates.k8s.io/v1 can"},
		"another kind":            {"of: {apiVersion: cert-manager.io/v1, kind: CertificateRequest, namespace: a, name: b}, signer: example.com/node", "a CertificateRequest of cert-manager.io/v1 cannot be approved"},
		"a text":                  {of + ", signer: example.com/node, approved: key.name", "this must give bool, it gives string"},
		"a reason of two words":   {of + ", signer: example.com/node, reason: is known", `"is known" cannot be the reason of an approval`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, problems := compiled(t, header+"  rules: [{name: r, do: [{approve: {"+tc.fields+"}}]}]\n", PolicyOptions{})
			var wrong []string
			for _, one := range problems {
				if one.Severity == document.Error {
					wrong = append(wrong, one.Message)
				}
			}
			got := strings.Join(wrong, "; ")
			if tc.wrong == "" && (p == nil || got != "") || !strings.Contains(got, tc.wrong) {
				t.Errorf("got %q, want %q", got, tc.wrong)
			}
		})
	}
}
