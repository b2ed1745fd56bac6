package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// tries is how often an object that has changed is read again.
const tries = 10

// remove patches an object. The patch tests what it removes: who changes the
// list meanwhile makes it fail, and it is made again from the list as it is
// then.
func remove(ctx context.Context, t *target, api metadata.ResourceInterface, o *metav1.PartialObjectMetadata) error {
	var err error
	for range tries {
		patch := removal(o.Finalizers, t.mine(o))
		if patch == nil {
			return nil
		}
		_, err = api.Patch(ctx, o.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "edict/" + t.policy})
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
			return err
		}
		next, got := api.Get(ctx, o.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(got) {
			return nil
		}
		if got != nil {
			return got
		}
		o = next
	}
	return err
}

// removal is a JSON patch that takes names out of a list, the last first: the
// places of the others then stay as they are. It is nil when there is nothing
// to take out.
func removal(list, names []string) []byte {
	var patch []map[string]any
	for i, name := range slices.Backward(list) {
		if slices.Contains(names, name) {
			path := fmt.Sprintf("/metadata/finalizers/%d", i)
			patch = append(patch, map[string]any{"op": "test", "path": path, "value": name}, map[string]any{"op": "remove", "path": path})
		}
	}
	if patch == nil {
		return nil
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return nil // texts can always be written
	}
	return text
}
