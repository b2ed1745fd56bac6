package apply

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// NameManagers adds the other field managers of a list to the error of an apply that is
// invalid below that list. An entry of which they own fields is not removed with the fields of
// the policy, and may be invalid without them. managers is called for such an error only.
func NameManagers(err error, policy string, managers func() []metav1.ManagedFieldsEntry) error {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	var lists, others []string
	for _, c := range status.Status().Details.Causes {
		if list, _, below := strings.Cut(c.Field, "["); below {
			lists = append(lists, list)
		}
	}
	if len(lists) == 0 {
		return err
	}
	for _, m := range managers() {
		if m.Manager != FieldManager+"/"+policy && m.FieldsV1 != nil && slices.ContainsFunc(lists, func(list string) bool { return hasField(m.FieldsV1.GetRawBytes(), list) }) {
			others = append(others, m.Manager)
		}
	}
	if len(others) == 0 {
		return err
	}
	return fmt.Errorf("%w; fields of %s belong to %s, which keeps entries there that the policy no longer writes", err, strings.Join(slices.Compact(lists), ", "), strings.Join(others, ", "))
}

// hasField reports whether fields in the form of FieldsV1 have some below a path.
func hasField(raw []byte, path string) bool {
	set := &fieldpath.Set{}
	if set.FromJSON(bytes.NewReader(raw)) != nil {
		return false
	}
	for name := range strings.SplitSeq(path, ".") {
		set = set.WithPrefix(fieldpath.PathElement{FieldName: &name})
	}
	return !set.Empty()
}
