package release

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/edict-dev/edict/engine/identity"
)

// Outcome is the result for one object, or for a kind whose objects could not
// be listed.
type Outcome struct {
	Policy string
	// Object is of the kind; without a name, all objects of the kind are meant.
	Kind       string
	Object     types.NamespacedName
	Finalizers []string
	// Of are the finalizers as they were given.
	Of  Counts
	Err error
}

// Releaser removes finalizers.
type Releaser struct {
	Client metadata.Interface
	Mapper meta.RESTMapper
	// Accounts are the accounts that the objects are written as; the client has to go through
	// an identity.Transport.
	Accounts *identity.Accounts
	// Selector selects the objects of the installation; empty selects all.
	Selector string
	// DryRun finds what would be removed, and removes nothing.
	DryRun bool
	// Report receives each outcome.
	Report func(Outcome)
}

// The limits of a release.
const (
	pageSize = 500
	// passes is how often all objects are gone through: something that was still
	// under way may have set a finalizer behind our back.
	passes = 3
)

// Release removes finalizers of a policy, or of all policies of a set as SET/, from all objects.
func (r *Releaser) Release(ctx context.Context, policy string, finalizers Counts) {
	for _, t := range targets(policy, finalizers) {
		if err := r.kind(ctx, t); err != nil {
			r.Report(Outcome{Policy: t.policy, Kind: t.Kind, Object: types.NamespacedName{Namespace: t.Namespace}, Finalizers: t.names, Err: err})
		}
	}
}

// kind releases the objects of a kind. A kind that the cluster does not serve
// has no objects.
func (r *Releaser) kind(ctx context.Context, t *target) error {
	mapping, err := r.Mapper.RESTMapping(t.GroupKind)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	k := kind{releaser: r, target: t, mapping: mapping, failed: map[types.NamespacedName]bool{}}
	return k.passes(ctx)
}

// kind is a kind while its objects are gone through.
type kind struct {
	releaser *Releaser
	target   *target
	mapping  *meta.RESTMapping
	// failed are the objects that were tried in vain.
	failed map[types.NamespacedName]bool
}

// in returns the objects of a namespace; "" is all.
func (k *kind) in(namespace string) metadata.ResourceInterface {
	api := k.releaser.Client.Resource(k.mapping.Resource)
	if k.mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return api
	}
	return api.Namespace(namespace)
}

// passes goes through the objects until none has a finalizer to remove.
func (k *kind) passes(ctx context.Context) error {
	for range passes {
		removed, err := k.pass(ctx)
		if err != nil || removed == 0 || k.releaser.DryRun {
			return err
		}
	}
	return fmt.Errorf("finalizers were found in each of %d passes: something sets them again", passes)
}

// pass goes through all objects once, in pages.
func (k *kind) pass(ctx context.Context) (removed int, err error) {
	options := metav1.ListOptions{Limit: pageSize, LabelSelector: k.releaser.Selector}
	for {
		page, err := k.in(k.target.Namespace).List(ctx, options)
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

// object removes the policy's finalizers from one object, and reports whether it
// did.
func (k *kind) object(ctx context.Context, o *metav1.PartialObjectMetadata) bool {
	id := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	out := Outcome{Policy: k.target.policy, Kind: k.target.Kind, Object: id, Finalizers: k.target.mine(o)}
	if len(out.Finalizers) == 0 || k.failed[id] {
		return false
	}
	out.Of = k.target.listed(out.Finalizers)
	if !k.releaser.DryRun {
		out.Err = remove(k.releaser.Accounts.As(ctx, k.target.policy), k.target, k.in(o.Namespace), o)
		k.failed[id] = out.Err != nil
	}
	k.releaser.Report(out)
	return out.Err == nil
}
