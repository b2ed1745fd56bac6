package main

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// objects asks a cluster about the objects of policies.
type objects struct {
	mapper meta.RESTMapper
	client metadata.Interface
}

func newObjects(config *rest.Config) (*objects, error) {
	client, mapper, err := clusterMapper(config)
	if err != nil {
		return nil, err
	}
	out := &objects{mapper: mapper}
	out.client, err = cluster.Metadata(config, client)
	return out, err
}

// matches returns the key of an object, which may be within a namespace, and an error if a policy decides
// about no object with it. The note names a reason for doubt that there is one; it may be empty.
func (o *objects) matches(ctx context.Context, of, within string, u *source.Unit) (full, note string, err error) {
	primary := &u.Document.Spec.For
	kind := discovery.GroupVersionKind(schema.GVK{APIVersion: primary.APIVersion.Value, Kind: primary.Kind.Value})
	mapping, err := o.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return of, fmt.Sprintf("whether there is a %s %s is not known: %v", kind.Kind, of, err), nil
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if namespaced && within != "" {
		of = within + "/" + of
	}
	if err := fits(of, u.ID(), kind, namespaced); err != nil {
		return "", "", err
	}
	key := eval.ParseKey(of)
	_, err = o.client.Resource(mapping.Resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return of, fmt.Sprintf("there is no %s %s now: nothing is held until there is one", kind.Kind, of), nil
	case err != nil:
		return of, fmt.Sprintf("whether there is a %s %s is not known: %v", kind.Kind, of, err), nil
	default:
		return of, "", nil
	}
}

// fits reports as an error that a key cannot be one of an object of a kind.
func fits(of, policy string, kind kschema.GroupVersionKind, namespaced bool) error {
	namespace, name, has := strings.Cut(of, "/")
	switch {
	case namespaced && !has:
		return found("--key %s has no namespace, and the policy %s decides about objects of the kind %s, which are in namespaces: give it as NAMESPACE/%s, or the namespace by -n", of, policy, kind.Kind, of)
	case !namespaced && has:
		return found("--key %s has a namespace, and the policy %s decides about objects of the kind %s, which are in none: give it as NAME, such as %s", of, policy, kind.Kind, name)
	case has && (namespace == "" || name == "" || strings.Contains(name, "/")):
		return found("--key %s is not NAMESPACE/NAME", of)
	default:
		return nil
	}
}
