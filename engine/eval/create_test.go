package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCreateMeetsAnObject: one that is there is left alone, and said if it is not the policy's.
func TestCreateMeetsAnObject(t *testing.T) {
	t.Parallel()
	const (
		w       = "{kind: Widget, metadata: {name: w}}"
		owners  = "ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: w, uid: "
		plain   = "create: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: g, labels: {a: b}}}"
		bare    = "create: {apiVersion: v1, kind: ConfigMap, metadata: {name: g, namespace: ns}}"
		owned   = `create: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: g, ` + owners + `"${object.metadata.uid}"}]}}`
		later   = "labels: {set: {later: x}}"
		going   = `deletionTimestamp: "2026-03-01T11:00:00Z", finalizers: [a/b]`
		written = `r2: patch w {"metadata":{"labels":{"later":"x"}}}`
		exists  = "Gadget g exists and is not this policy's; it is left alone; choose another name, or delete it"
		gone    = "Gadget g is not this policy's and is being deleted; nothing is created until it is gone: see its finalizers"
	)
	for name, tc := range map[string]struct {
		action, object string
		want           []string
	}{
		"owned by the same":              {owned, "{kind: Gadget, metadata: {name: g, " + owners + "uid-w}]}}", []string{written}},
		"owned by the same, and deleted": {owned, "{kind: Gadget, metadata: {name: g, " + going + ", " + owners + "uid-w}]}}", []string{written}},
		"owned by an older object":       {owned, "{kind: Gadget, metadata: {name: g, " + owners + "old}]}}", []string{written, "problem in r1: 8:12: " + exists}},
		"of an older one, and deleted":   {owned, "{kind: Gadget, metadata: {name: g, " + going + ", " + owners + "old}]}}", []string{"problem in r1: 8:12: " + gone}},
		"written by the policy":          {plain, "{kind: Gadget, metadata: {name: g, managedFields: [{manager: edict/p, operation: Update, fieldsType: FieldsV1, fieldsV1: {}}]}}", []string{written}},
		"without anything to note":       {bare, "{apiVersion: v1, kind: ConfigMap, metadata: {name: g, namespace: ns}}", []string{written}},
		"written by somebody":            {plain, "{kind: Gadget, metadata: {name: g, managedFields: [{manager: kubectl, operation: Update, fieldsType: FieldsV1, fieldsV1: {}}]}}", []string{written, "problem in r1: 8:12: " + exists}},
		"written by somebody, deleted":   {plain, "{kind: Gadget, metadata: {name: g, " + going + "}}", []string{"problem in r1: 8:12: " + gone}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, told(newBench(t, do(tc.action, later), w, tc.object).decide(widget, now))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
