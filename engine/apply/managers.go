package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Shared returns the error of an apply. If the server refuses it for what is below a list, it
// names the other field managers of that list: an entry that they have fields of stays when
// the policy no longer writes it, without what only the policy wrote. managers is called
// only then.
func Shared(err error, policy string, managers func() []metav1.ManagedFieldsEntry) error {
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

// hasField reports whether fields as FieldsV1 writes them have a path.
func hasField(raw []byte, path string) bool {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for name := range strings.SplitSeq(path, ".") {
		var ok bool
		if fields, ok = fields["f:"+name].(map[string]any); !ok {
			return false
		}
	}
	return true
}
