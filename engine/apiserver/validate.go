package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/edict-dev/edict/engine/schema"
)

// valid refuses an object of a custom kind that its schema does not allow. What was wrong
// before a write may stay; old is nil for a creation. A write of the status is refused in
// words that leave out where the status is, since kube-apiserver validates it by itself.
func (k kind) valid(old, next Object, subresource string) error {
	found := k.Violations(next)
	if len(found) > 0 && old != nil {
		before := k.Violations(old)
		found = slices.DeleteFunc(found, func(one error) bool {
			return slices.ContainsFunc(before, func(other error) bool { return sameViolation(one, other) })
		})
	}
	if len(found) == 0 {
		return nil
	}
	list := make(field.ErrorList, len(found))
	for i, one := range found {
		list[i] = fieldError(one)
		if subresource == "status" {
			list[i].Detail = strings.TrimPrefix(strings.TrimPrefix(list[i].Detail, "status"), ".")
		}
	}
	id := ID(next)
	return apierrors.NewInvalid(kschema.GroupKind{Group: id.Group(), Kind: id.Kind}, id.Name, list)
}

func sameViolation(a, b error) bool {
	var one, other *schema.Violation
	if errors.As(a, &one) && errors.As(b, &other) {
		return one.Error() == other.Error() && same(one.Value, other.Value)
	}
	return a.Error() == b.Error()
}

// fieldError words a violation as kube-apiserver does.
func fieldError(err error) *field.Error {
	var v *schema.Violation
	if !errors.As(err, &v) {
		return field.Invalid(nil, "", err.Error())
	}
	var path *field.Path
	if name := strings.TrimPrefix(v.Name, "."); name != "" {
		path = field.NewPath(name)
	}
	switch limit, _ := v.Valid.(int64); v.Code() {
	case openapi.RequiredFailCode:
		return field.Required(path, "")
	case openapi.EnumFailCode:
		return field.NotSupported(path, v.Value, texts(v.Values))
	case openapi.TooLongFailCode:
		return field.TooLong(path, "", int(limit))
	case openapi.MaxItemsFailCode, openapi.TooManyPropertiesCode:
		size, _ := v.Value.(int64)
		return field.TooMany(path, int(size), int(limit))
	case openapi.InvalidTypeCode:
		return field.TypeInvalid(path, given(v), err.Error())
	default:
		return field.Invalid(path, given(v), err.Error())
	}
}

func given(v *schema.Violation) any {
	if v.Value == nil {
		return ""
	}
	return v.Value
}

func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			raw, err := json.Marshal(v)
			if text = string(raw); err != nil {
				text = fmt.Sprint(v)
			}
		}
		out[i] = text
	}
	return out
}
