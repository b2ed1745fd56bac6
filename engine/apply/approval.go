package apply

import "github.com/edict-dev/edict/engine/eval"

// ApprovalSubresource is the subresource by which a CertificateSigningRequest is approved
// or denied.
const ApprovalSubresource = "approval"

// approve patches the subresource approval, as the request was decided on.
func (r *applyRun) approve(e *eval.Effect) error {
	version, ok := r.versions[e.Target]
	if !ok {
		version, _ = r.applier.Version(e.Target)
	}
	next, err := r.applier.Writer.Patch(r.ctx, Patch{
		Target: e.Target, Subresource: ApprovalSubresource, Body: e.Patch, ResourceVersion: version.ResourceVersion, Policy: r.applier.Policy,
	})
	if err == nil {
		r.versions[e.Target] = next
	}
	return err
}
