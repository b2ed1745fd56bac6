package chart

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/edict-dev/edict/test/controlplane"
)

// cluster is a control plane of one test.
type cluster struct {
	t       *testing.T
	plane   *controlplane.ControlPlane
	client  *kubernetes.Clientset
	dynamic dynamic.Interface
	mapper  meta.ResettableRESTMapper
}

func startCluster(t *testing.T, options controlplane.Options) *cluster {
	t.Helper()
	controlplane.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	options.Log = os.Stderr
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{t: t, plane: plane}
	if c.client, err = kubernetes.NewForConfig(plane.Config()); err != nil {
		t.Fatal(err)
	}
	if c.dynamic, err = dynamic.NewForConfig(plane.Config()); err != nil {
		t.Fatal(err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoverer))
	return c
}

// namespace makes one whose Pods have to be of the restricted level.
func (c *cluster) namespace(name string) {
	c.t.Helper()
	_, err := c.client.CoreV1().Namespaces().Create(c.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		c.t.Fatal(err)
	}
}

// api returns the client for an object's kind, in its namespace if it has one.
func (c *cluster) api(o *object) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) { // Helm has installed a CRD since
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	resource := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return resource.Namespace(o.GetNamespace()), nil
	}
	return resource, nil
}

// try asks the API server whether it would take an object, strictly: a field
// that the kind does not have is refused.
func (c *cluster) try(o *object) error {
	api, err := c.api(o)
	if err != nil {
		return err
	}
	_, err = api.Create(c.t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}
