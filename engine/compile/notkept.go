package compile

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// notKept reports fields of an object that is made or applied which the API server does not
// keep as they are written.
func (k *kinds) notKept(gvk schema.GVK, manifest *document.Node, problems *findings) {
	structure, _ := k.schemas.Structure(gvk)
	if status := manifest.Get("status"); status != nil && structure != nil && structure.Status {
		problems.Reportf(document.NotKept, status.Pos, "write it with the action status, if it is not the controller of the "+gvk.Kind+" that does",
			"the API server drops the status of a %s that is made or applied", gvk.Kind)
	}
	encoded(gvk, manifest, problems)
}

// encoded reports texts of a Secret that the API server moves to another field.
func encoded(gvk schema.GVK, fields *document.Node, problems *findings) {
	if texts := fields.Get("stringData"); texts != nil && gvk == schema.Secret {
		problems.Reportf(document.NotKept, texts.Pos, "data: {password: \"${base64.encode(text)}\"}",
			"the API server moves stringData of a Secret to data: it is not seen when somebody changes it, and a patch of it is written at every evaluation")
	}
}
