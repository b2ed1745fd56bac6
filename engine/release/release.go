package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// Outcome is what became of one object, or of a kind whose objects could not
// be listed.
type Outcome struct {
	Policy string
	// Object has no name when all objects of the kind are meant.
	Object     world.ID
	Finalizers []string
	Err        error
}

// Releaser removes finalizers.
type Releaser struct {
	Client metadata.Interface
	Mapper meta.RESTMapper
	// DryRun finds what would be removed, and removes nothing.
	DryRun bool
	// Report is told each outcome.
	Report func(Outcome)
}

// The limits of a release.
const (
	pageSize = 500
	// tries is how often an object is read anew that changed meanwhile.
	tries = 10
	// passes is how often all objects are gone through: something that was still
	// under way may have set a finalizer behind our back.
	passes = 3
)

// Policies removes the finalizers of policies from all objects.
func (r *Releaser) Policies(ctx context.Context, policies []*plan.Policy) {
	for _, p := range policies {
		for _, t := range targets(p) {
			r.kind(ctx, t)
		}
	}
}

// kind releases the objects of a kind. A kind that the cluster does not serve
// has no objects.
func (r *Releaser) kind(ctx context.Context, t *target) {
	gvk := kschema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	mapping, err := r.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return
	}
	if err == nil {
		k := kind{Releaser: r, target: t, mapping: mapping, failed: map[world.ID]bool{}}
		err = k.passes(ctx)
	}
	if err != nil {
		r.Report(Outcome{Policy: t.policy, Object: world.ID{GVK: t.GVK, Namespace: t.namespace}, Finalizers: t.names, Err: err})
	}
}

// kind is a kind while its objects are gone through.
type kind struct {
	*Releaser
	*target
	mapping *meta.RESTMapping
	// failed are the objects that were tried in vain.
	failed map[world.ID]bool
}

// in gives the objects of a namespace; "" is all.
func (k *kind) in(namespace string) metadata.ResourceInterface {
	api := k.Client.Resource(k.mapping.Resource)
	if k.mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return api
	}
	return api.Namespace(namespace)
}

// passes goes through the objects until nothing is left to remove.
func (k *kind) passes(ctx context.Context) error {
	for range passes {
		removed, err := k.pass(ctx)
		if err != nil || removed == 0 || k.DryRun {
			return err
		}
	}
	return fmt.Errorf("finalizers were found in each of %d passes: something sets them again", passes)
}

// pass goes through all objects once, in pages.
func (k *kind) pass(ctx context.Context) (removed int, err error) {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := k.in(k.namespace).List(ctx, options)
		if apierrors.IsNotFound(err) {
			return removed, nil // the kind has just gone
		}
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			options.Continue = "" // the pages took too long: from the beginning
			continue
		}
		if err != nil {
			return removed, fmt.Errorf("listing: %w", err)
		}
		for i := range page.Items {
			if k.object(ctx, &page.Items[i]) {
				removed++
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return removed, nil
		}
	}
}

// object removes the policy's finalizers from one object, and says whether it
// did.
func (k *kind) object(ctx context.Context, o *metav1.PartialObjectMetadata) bool {
	id := world.ID{GVK: k.GVK, Namespace: o.Namespace, Name: o.Name}
	out := Outcome{Policy: k.policy, Object: id, Finalizers: k.mine(o)}
	if len(out.Finalizers) == 0 || k.failed[id] {
		return false
	}
	if !k.DryRun {
		out.Err = remove(ctx, k.target, k.in(o.Namespace), o)
		k.failed[id] = out.Err != nil
	}
	k.Report(out)
	return out.Err == nil
}

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
		_, err = api.Patch(ctx, o.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager(t.policy)})
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
