package apiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// selecting reports whether objects of a kind have to select the Pods that they make: a kind
// whose selector is given by the API server does not.
func selecting(t *schema.Type) bool {
	spec := t.Field("spec")
	return spec != nil && spec.Demands("selector") && spec.Field("template") != nil && spec.Field("selector").Field("matchLabels") != nil
}

// unselected says that an object does not select the Pods that it makes. One without a
// selector or a template lacks these.
func unselected(t *schema.Type, old, next Object) field.ErrorList {
	spec, _ := next["spec"].(Object)
	given, _ := spec["selector"].(Object)
	template, _ := spec["template"].(Object)
	if given == nil || template == nil || same(old["spec"], spec) || !selecting(t) {
		return nil
	}
	var of metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(given, &of) != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&of)
	switch at := field.NewPath("spec"); {
	case err != nil:
		return field.ErrorList{field.Invalid(at.Child("selector"), given, err.Error())}
	case selector.Empty():
		return field.ErrorList{field.Invalid(at.Child("selector"), given, "an empty selector is not allowed")}
	case !selector.Matches(Labels(template)):
		return field.ErrorList{field.Invalid(at.Child("template", "metadata", "labels"), metadata(template)["labels"], "`selector` does not match template `labels`")}
	}
	return nil
}
