package compile

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// csr is the kind that can be approved.
var csr = schema.GVK{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}

// approvalMask is what an approval is compared with.
var approvalMask = value.Merge(under([]string{"spec", "signerName"}, &value.Mask{}), under([]string{"status", "conditions"}, value.KeepAll))

// approval compiles the approval or denial of a CertificateSigningRequest.
func approval(s *scope, a *v1alpha1.ApproveAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil || !approvable(s, a, t) || !signer(s, a) {
		return nil
	}
	out := &plan.Approve{
		Pos: a.Pos, Of: t.ref, Signer: a.Signer.Value, Approved: s.typed(a.Approved, cel.BoolType),
		Reason: s.template(a.Reason), Message: s.template(a.Message),
	}
	for name, text := range map[string]*cel.Template{"reason": out.Reason, "message": out.Message} {
		if text != nil {
			text.Fit(textType, "approve."+name, &s.problems.Problems)
		}
	}
	approvalReason(a, out.Reason, s.problems)
	t.read(s.node, approvalMask)
	t.write(s.node, "approval", analyze.WriteApprove)
	at := analyze.Scope{Name: analyze.ParamValue{Value: out.Signer}}
	for _, c := range t.candidates {
		at.Input = c.at.Input
		s.node.Write(analyze.Write{GVK: csr, Verb: analyze.WriteSigner, Scope: at})
	}
	return out
}

// approvable rejects objects of other kinds.
func approvable(s *scope, a *v1alpha1.ApproveAction, t *target) bool {
	for _, c := range t.candidates {
		if c.gvk != csr {
			s.problems.Hintf(a.Pos, "condition: {of: ..., type: Approved, status: \"True\"} sets a condition of any object", "a %s of %s cannot be approved, only a %s of %s can", c.gvk.Kind, c.gvk.APIVersion, csr.Kind, csr.APIVersion)
			return false
		}
	}
	return true
}

// signer rejects a signer that is computed, or that no request can have.
func signer(s *scope, a *v1alpha1.ApproveAction) bool {
	const form = "signer: example.com/node, or example.com/* for all signers of a domain"
	if !a.Signer.Set() {
		s.problems.Hintf(a.Pos, form, "approve needs a signer: the permissions follow from it")
		return false
	}
	name := a.Signer.Value
	if strings.Contains(name, "${") {
		s.problems.Hintf(a.Signer.Pos(), "write it out, so that the needed permissions are known", "the signer cannot be computed")
		return false
	}
	domain, path, _ := strings.Cut(name, "/")
	if len(validation.IsDNS1123Subdomain(domain)) > 0 || path != "*" && len(validation.IsDNS1123Subdomain(path)) > 0 {
		s.problems.Hintf(a.Signer.Pos(), form, "%q cannot be the name of a signer", name)
		return false
	}
	return true
}

// approvalReason rejects a reason that is no word.
func approvalReason(a *v1alpha1.ApproveAction, reason *cel.Template, problems *findings) {
	if text, known := value.Str(constantOf(reason)); known && text != "" && !reasonForm.MatchString(text) {
		problems.Reportf(document.InvalidName, a.Reason.Pos(), "one word in CamelCase, such as NodeKnown", "%q cannot be the reason of an approval", text)
	}
}
