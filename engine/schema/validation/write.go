package validation

import (
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Object is a JSON object with whole numbers as int64.
type Object = map[string]any

// Create returns what is wrong with a new object.
func (v *Validator) Create(o Object) field.ErrorList {
	found := v.schema(o)
	return append(found, v.rulesOn(o, nil, found)...)
}

// Update returns what is wrong with the next state of an object. What its schema does not
// allow in the state before either is left out, also beside what changes: the object may be
// older than the schema, or a test may have left out a field. kube-apiserver leaves out
// what is wrong with values that do not change.
func (v *Validator) Update(old, next Object) field.ErrorList {
	found := validation.ValidateCustomResourceUpdate(nil, next, old, v.whole, validation.WithRatcheting(v.correlated(old, next)))
	found = append(found, objectmeta.Validate(context.Background(), nil, next, v.structural, false)...)
	found = append(found, v.newLists(old, next)...)
	return v.since(old, next, found)
}

// UpdateStatus is Update for a write of the status as a subresource.
func (v *Validator) UpdateStatus(old, next Object) (found field.ErrorList) {
	if status, has := next["status"]; has && v.status != nil {
		same := v.correlated(old, next).Key("status")
		found = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], v.status, validation.WithRatcheting(same))
	}
	return v.since(old, next, append(found, v.newLists(old, next)...))
}

// schema returns what is wrong with an object by itself, but for the rules.
func (v *Validator) schema(o Object) field.ErrorList {
	found := validation.ValidateCustomResource(nil, o, v.whole)
	found = append(found, objectmeta.Validate(context.Background(), nil, o, v.structural, false)...)
	return append(found, v.lists(o)...)
}

// lists returns the items with equal keys.
func (v *Validator) lists(o Object) field.ErrorList {
	return listtype.ValidateListSetsAndMaps(nil, v.structural, o)
}

// newLists are those of an object that had none before.
func (v *Validator) newLists(old, next Object) field.ErrorList {
	found := v.lists(next)
	if len(found) > 0 && len(v.lists(old)) > 0 {
		return nil
	}
	return found
}

// since leaves out of what was found what was wrong before, and adds what rules say. An
// object that could not have been stored as it was is not shown to rules: a world of a test
// may have such objects.
func (v *Validator) since(old, next Object, found field.ErrorList) field.ErrorList {
	said := v.rulesOn(next, old, found)
	if len(found)+len(said) == 0 {
		return nil
	}
	before := v.schema(old)
	found = without(found, slices.Concat(before, v.statusOf(old)))
	if len(before) > 0 {
		return found
	}
	return append(found, without(said, v.rulesOn(old, nil, nil))...)
}

// rulesOn returns what rules say of an object whose schema has found so much; old is nil
// for a creation. An object of wrong types is not shown to them.
func (v *Validator) rulesOn(o, old Object, found field.ErrorList) (said field.ErrorList) {
	switch {
	case v.rules == nil:
		return nil
	case blocking(found):
		return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	case old == nil:
		said, _ = v.rules.Validate(context.Background(), nil, v.structural, o, nil, apiservercel.RuntimeCELCostBudget)
	default:
		said, _ = v.rules.Validate(context.Background(), nil, v.structural, o, old, apiservercel.RuntimeCELCostBudget, cel.WithRatcheting(v.correlated(old, o)))
	}
	return said
}

// statusOf words what is wrong with a status as a write of it alone does.
func (v *Validator) statusOf(o Object) field.ErrorList {
	status, has := o["status"]
	if !has {
		return nil
	}
	return validation.ValidateCustomResource(field.NewPath("status"), status, v.status)
}

// correlated finds values of an object in its state before.
func (v *Validator) correlated(old, next Object) *common.CorrelatedObject {
	return common.NewCorrelatedObject(next, old, &model.Structural{Structural: v.structural})
}
