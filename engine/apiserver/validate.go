package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// valid refuses an object of a custom kind that its CRD does not allow; old is nil for a
// creation.
func (k kind) valid(old, next Object, subresource string) error {
	found := k.violations(old, next, subresource)
	if len(found) == 0 {
		return nil
	}
	return refused(ID(next), found...)
}

func (k kind) violations(old, next Object, subresource string) field.ErrorList {
	v := k.structure.Validator()
	switch {
	case v == nil:
		return nil
	case old == nil:
		return v.Create(next)
	case subresource == "status":
		return v.UpdateStatus(old, next)
	default:
		return v.Update(old, next)
	}
}
