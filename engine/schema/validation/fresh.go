package validation

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// without returns the errors that are not among others.
func without(found, others field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(found, func(one *field.Error) bool {
		return slices.ContainsFunc(others, func(other *field.Error) bool { return reflect.DeepEqual(one, other) })
	})
}

// blocking reports whether an error is of those after which kube-apiserver checks no rules.
func blocking(found field.ErrorList) bool {
	return slices.ContainsFunc(found, func(one *field.Error) bool {
		switch one.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
		return false
	})
}
