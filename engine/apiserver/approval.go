package apiserver

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

var requestKind = schema.GVK{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}

// approvalSubresource is the one by which a request is approved or denied.
const approvalSubresource = "approval"

// conditionsPath is where a request has them.
var conditionsPath = field.NewPath("status", "conditions")

// lastingConditions cannot be removed, nor be anything but True; those that decide about
// a request are written by the subresource approval only.
var (
	lastingConditions  = []string{"Approved", "Denied", "Failed"}
	decidingConditions = []string{"Approved", "Denied"}
)

// serves reports whether the objects of a kind have a subresource that is patched.
func (k kind) serves(subresource string) bool {
	if subresource == approvalSubresource {
		return k.gvk == requestKind
	}
	return subresource == "" || k.hasStatus()
}

// requestReset is the field besides spec that an endpoint of requests does not write,
// or not say that it is written.
func requestReset(subresource string) fieldpath.Path {
	switch subresource {
	case approvalSubresource:
		return fieldpath.MakePathOrDie("status", "certificate")
	case "status":
		return fieldpath.MakePathOrDie("status", "conditions")
	}
	return fieldpath.MakePathOrDie("status")
}

// deciding writes the subresources of requests, whose conditions say what was decided.
type deciding struct{ now clock }

// approved is a request as the subresource approval writes it: of spec and status only
// the conditions change.
func (d deciding) approved(old, next Object) (Object, error) {
	restore(next, old, "spec")
	given := conditionsOf(next)
	restore(next, old, "status")
	next = copied(next)
	status, _ := next["status"].(Object)
	if status == nil {
		status = Object{}
	}
	status["conditions"] = d.timed(old, given)
	if len(given) == 0 {
		delete(status, "conditions")
	}
	next["status"] = status
	if len(status) == 0 {
		delete(next, "status")
	}
	return next, validConditions(old, next)
}

// reported is a request as the subresource status writes it: what was decided about it
// stays.
func (d deciding) reported(old, next Object) (Object, error) {
	given := conditionsOf(next)
	for _, name := range decidingConditions {
		before, after := typed(conditionsOf(old), name), typed(given, name)
		if len(after) > len(before) {
			return nil, forbidden(ID(old), fmt.Sprintf("updates may not add a condition of type %q", name))
		}
		for i, at := range given {
			if c, _ := at.(Object); text(c, "type") == name && len(after) == len(before) {
				given[i] = before[0]
			}
		}
	}
	if status, ok := next["status"].(Object); ok && len(given) > 0 {
		status["conditions"] = d.timed(old, given)
	}
	return next, validConditions(old, next)
}

func conditionsOf(o Object) []any {
	status, _ := o["status"].(Object)
	list, _ := status["conditions"].([]any)
	return list
}

func typed(list []any, name string) []any {
	return slices.DeleteFunc(slices.Clone(list), func(c any) bool { o, _ := c.(Object); return text(o, "type") != name })
}

// timed returns conditions with the times that they lack: that of a condition as it was
// before, or now.
func (d deciding) timed(old Object, list []any) []any {
	out := make([]any, len(list))
	for i, raw := range list {
		given, _ := raw.(Object)
		c := Object{}
		maps.Copy(c, given)
		setDefault(c, "lastUpdateTime", d.now.timestamp())
		for _, raw := range conditionsOf(old) {
			if was, _ := raw.(Object); text(was, "type") == text(c, "type") && text(was, "status") == text(c, "status") && was["lastTransitionTime"] != nil {
				setDefault(c, "lastTransitionTime", was["lastTransitionTime"])
			}
		}
		setDefault(c, "lastTransitionTime", d.now.timestamp())
		out[i] = c
	}
	return out
}

// validConditions refuses conditions that no request can have.
func validConditions(old, next Object) error {
	list := conditionsOf(next)
	for i, raw := range list {
		c, _ := raw.(Object)
		if err := validCondition(ID(next), conditionsPath.Index(i), c); err != nil {
			return err
		}
		if len(typed(list, text(c, "type"))) > 1 {
			return refused(ID(next), field.Duplicate(conditionsPath.Index(i).Child("type"), text(c, "type")))
		}
	}
	if len(typed(list, "Approved")) > 0 && len(typed(list, "Denied")) > 0 {
		return refused(ID(next), field.Invalid(conditionsPath, "Denied", "Approved and Denied conditions are mutually exclusive"))
	}
	for _, name := range lastingConditions {
		if len(typed(list, name)) < len(typed(conditionsOf(old), name)) {
			return forbidden(ID(next), fmt.Sprintf("updates may not remove a condition of type %q", name))
		}
	}
	return nil
}

func validCondition(id world.ID, at *field.Path, c Object) error {
	allowed := []string{"True", "False", "Unknown"}
	if slices.Contains(lastingConditions, text(c, "type")) {
		allowed = allowed[:1]
	}
	switch status := text(c, "status"); {
	case text(c, "type") == "":
		return refused(id, field.Required(at.Child("type"), ""))
	case status == "":
		return refused(id, field.Required(at.Child("status"), ""))
	case !slices.Contains(allowed, status):
		return refused(id, field.NotSupported(at.Child("status"), status, allowed))
	}
	return nil
}

func forbidden(id world.ID, why string) error {
	return refused(id, field.Forbidden(conditionsPath, why))
}
