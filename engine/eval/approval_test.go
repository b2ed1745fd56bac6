package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestApprove: a request is approved or denied once, and only one of the signer that is
// named.
func TestApprove(t *testing.T) {
	t.Parallel()
	const head = "  inputs: [{name: requests, apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest}]\n  rules:\n"
	rule := func(fields string) string {
		return "    - {name: r, forEach: inputs.requests, as: q, do: [{approve: {of: q, signer: " + fields + "}}]}\n"
	}
	request := func(status string) string {
		return "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c}, spec: {signerName: example.com/node, username: u}, status: {" + status + "}}"
	}
	const approved, other = `{"status":"True","type":"Approved"}`, `{"status":"True","type":"Other"}`
	patch := func(conditions string) string { return `r: approve c {"status":{"conditions":[` + conditions + `]}}` }
	for name, tc := range map[string]struct {
		rules, status string
		want          []string
	}{
		"a new request":            {rule("example.com/node"), "", []string{patch(approved)}},
		"of a domain":              {rule(`"example.com/*"`), "", []string{patch(approved)}},
		"denied":                   {rule("example.com/node, approved: q.spec.username != 'u'"), "", []string{patch(`{"status":"True","type":"Denied"}`)}},
		"with a reason":            {rule(`example.com/node, approved: 'true', reason: "Known", message: "by ${q.spec.username}"`), "", []string{patch(`{"message":"by u","reason":"Known","status":"True","type":"Approved"}`)}},
		"other conditions stay":    {rule("example.com/node"), `conditions: [{type: Other, status: "True"}]`, []string{patch(other + "," + approved)}},
		"approved before":          {rule("example.com/node, approved: 'false'"), `conditions: [{type: Approved, status: "True"}]`, []string{}},
		"denied before":            {rule("example.com/node"), `conditions: [{type: Denied, status: "True"}]`, []string{}},
		"twice in a decision":      {rule("example.com/node") + strings.Replace(rule("example.com/node, approved: 'false'"), "name: r", "name: s", 1), "", []string{patch(approved)}},
		"of another signer":        {rule("example.com/other"), "", []string{`problem in r c: 8:65: the CertificateSigningRequest c is for the signer "example.com/node", the action for "example.com/other": compare spec.signerName in when, or change signer`}},
		"of another domain":        {rule(`"example.co/*"`), "", []string{`problem in r c: 8:65: the CertificateSigningRequest c is for the signer "example.com/node", the action for "example.co/*": compare spec.signerName in when, or change signer`}},
		"of another one, approved": {rule("example.com/other"), `conditions: [{type: Approved, status: "True"}]`, []string{`problem in r c: 8:65: the CertificateSigningRequest c is for the signer "example.com/node", the action for "example.com/other": compare spec.signerName in when, or change signer`}},
		"neither true nor false":   {rule("example.com/node, approved: dyn(q.spec.username)"), "", []string{"problem in r c: 8:109: approved is true or false, this gives u"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, head+tc.rules, "{kind: Widget, metadata: {name: w}}", request(tc.status))
			if d := cmp.Diff(tc.want, told(b.decide(widget, now))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
