// Package writer sends what policies decide to the API server, as the policy, at
// the policy's pace, and only while this process may write.
package writer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Writer writes to the cluster. Of the answers only the metadata is read.
type Writer struct {
	mapper   meta.RESTMapper
	client   metadata.Interface
	whole    dynamic.Interface // for creating, which the other cannot
	core     typedcorev1.CoreV1Interface
	recorder record.EventRecorder
	stop     func()
	// As makes the requests of a context those of a policy.
	As func(ctx context.Context, policy string) context.Context
	// Gate refuses writes, with the context of the evaluation that asks for them; nil
	// refuses none.
	Gate func(context.Context) error
	// Pace holds policies to their share of the writes; nil does not.
	Pace   *Pace
	closed atomic.Bool
}

// open waits for the policy's turn and asks the gate. Requests with the context that it
// returns ask again as they are sent.
func (w *Writer) open(ctx context.Context, policy string) (context.Context, error) {
	if w.closed.Load() {
		return ctx, fmt.Errorf("nothing is written any more: %w", context.Canceled)
	}
	if err := w.Pace.wait(ctx, policy); err != nil {
		return ctx, err
	}
	if w.Gate == nil {
		return ctx, nil
	}
	return context.WithValue(ctx, gateKey{}, w.Gate), w.Gate(ctx)
}

var _ apply.Writer = (*Writer)(nil)

// New makes a Writer; Stop has to be called.
func New(config *rest.Config, client *http.Client, mapper meta.RESTMapper) (*Writer, error) {
	md, err := cluster.Metadata(config, client)
	if err != nil {
		return nil, err
	}
	whole, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: core.Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: apply.FieldManager})
	return &Writer{mapper: mapper, client: md, whole: whole, core: core, recorder: recorder, stop: broadcaster.Shutdown, As: func(ctx context.Context, _ string) context.Context { return ctx }}, nil
}

// Stop ends the sending of Events.
func (w *Writer) Stop() { w.stop() }

// Close refuses all writes from now on, for good.
func (w *Writer) Close() { w.closed.Store(true) }

// Closed reports whether Close was called.
func (w *Writer) Closed() bool { return w.closed.Load() }

// Metadata returns the client that reads the metadata of objects.
func (w *Writer) Metadata() metadata.Interface { return w.client }

// Patch implements apply.Writer.
func (w *Writer) Patch(ctx context.Context, p apply.Patch) (world.Version, error) {
	ctx = w.As(ctx, p.Policy)
	resource, err := w.Resource(p.Target.GVK())
	if err != nil {
		return world.Version{}, err
	}
	if ctx, err = w.open(ctx, p.Policy); err != nil {
		return world.Version{}, err
	}
	body, err := value.JSON(p.Locked())
	if err != nil {
		return world.Version{}, fmt.Errorf("the patch cannot be written as JSON: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: apply.FieldManager + "/" + p.Policy}
	got, err := w.client.Resource(resource).Namespace(p.Target.Namespace()).Patch(ctx, p.Target.Name(), types.MergePatchType, body, options, strings.Fields(p.Subresource)...)
	if err != nil {
		return world.Version{}, err
	}
	return world.Version{ResourceVersion: got.ResourceVersion, Generation: got.Generation}, nil
}

// Make implements apply.Writer.
func (w *Writer) Make(ctx context.Context, m apply.Manifest) (world.Version, error) {
	ctx = w.As(ctx, m.Policy)
	resource, err := w.Resource(m.Target.GVK())
	if err != nil {
		return world.Version{}, err
	}
	if ctx, err = w.open(ctx, m.Policy); err != nil {
		return world.Version{}, err
	}
	api := w.whole.Resource(resource).Namespace(m.Target.Namespace())
	manager := apply.FieldManager + "/" + m.Policy
	made := &unstructured.Unstructured{Object: m.Body}
	if m.Apply && m.Refuse && !w.free(ctx, m, resource) {
		return world.Version{}, apierrors.NewConflict(resource.GroupResource(), m.Target.Name(), errors.New("it exists, and is not the policy's"))
	}
	if m.Apply {
		made, err = api.Apply(ctx, m.Target.Name(), made, metav1.ApplyOptions{FieldManager: manager, Force: true})
		err = apply.NameManagers(err, m.Policy, func() []metav1.ManagedFieldsEntry {
			if got, err := w.client.Resource(resource).Namespace(m.Target.Namespace()).Get(ctx, m.Target.Name(), metav1.GetOptions{}); err == nil {
				return got.ManagedFields
			}
			return nil
		})
	} else {
		made, err = api.Create(ctx, made, metav1.CreateOptions{FieldManager: manager})
	}
	if apierrors.IsAlreadyExists(err) && w.made(ctx, m, resource) {
		return world.Version{}, apply.ErrExists
	}
	if err != nil {
		return world.Version{}, err
	}
	return world.Version{ResourceVersion: made.GetResourceVersion(), Generation: made.GetGeneration()}, nil
}

// free reports whether an object that is to be made by an apply does not exist, or
// was made by the same policy for the same primary object.
func (w *Writer) free(ctx context.Context, m apply.Manifest, resource kschema.GroupVersionResource) bool {
	_, err := w.client.Resource(resource).Namespace(m.Target.Namespace()).Get(ctx, m.Target.Name(), metav1.GetOptions{})
	return apierrors.IsNotFound(err) || w.made(ctx, m, resource)
}

// made reports whether an object that exists was made by the same policy, for the same
// primary object, and stays.
func (w *Writer) made(ctx context.Context, m apply.Manifest, resource kschema.GroupVersionResource) bool {
	got, err := w.client.Resource(resource).Namespace(m.Target.Namespace()).Get(ctx, m.Target.Name(), metav1.GetOptions{})
	return err == nil && got.DeletionTimestamp == nil && m.KeptFor(got.Annotations) && slices.ContainsFunc(got.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == apply.FieldManager+"/"+m.Policy
	})
}

// Delete implements apply.Writer.
func (w *Writer) Delete(ctx context.Context, d apply.Deletion) error {
	ctx = w.As(ctx, d.Policy)
	resource, err := w.Resource(d.Target.GVK())
	if err != nil {
		return err
	}
	if ctx, err = w.open(ctx, d.Policy); err != nil {
		return err
	}
	options := deleteOptions(d)
	return w.client.Resource(resource).Namespace(d.Target.Namespace()).Delete(ctx, d.Target.Name(), options)
}

// Evict implements apply.Writer. A refusal is returned at once: with a time to wait in
// it, the client would ask again ten times and hold up the worker for minutes.
func (w *Writer) Evict(ctx context.Context, d apply.Deletion) error {
	ctx, err := w.open(w.As(ctx, d.Policy), d.Policy)
	if err != nil {
		return err
	}
	options := deleteOptions(d)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: d.Target.Namespace(), Name: d.Target.Name()}, DeleteOptions: &options}
	return w.core.RESTClient().Post().Namespace(d.Target.Namespace()).Resource("pods").Name(d.Target.Name()).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
}

func deleteOptions(d apply.Deletion) metav1.DeleteOptions {
	out := metav1.DeleteOptions{GracePeriodSeconds: d.GracePeriod}
	if d.Propagation != "" {
		propagation := metav1.DeletionPropagation(d.Propagation)
		out.PropagationPolicy = &propagation
	}
	if d.UID == "" && d.ResourceVersion == "" {
		return out
	}
	out.Preconditions = &metav1.Preconditions{}
	if d.UID != "" {
		uid := types.UID(d.UID)
		out.Preconditions.UID = &uid
	}
	if d.ResourceVersion != "" {
		out.Preconditions.ResourceVersion = &d.ResourceVersion
	}
	return out
}

// Live implements apply.Writer.
func (w *Writer) Live(ctx context.Context, id world.ID) (world.Version, string, error) {
	resource, err := w.Resource(id.GVK())
	if err != nil {
		return world.Version{}, "", err
	}
	got, err := w.client.Resource(resource).Namespace(id.Namespace()).Get(ctx, id.Name(), metav1.GetOptions{})
	if err != nil {
		return world.Version{}, "", err
	}
	return world.Version{ResourceVersion: got.ResourceVersion, Generation: got.Generation}, string(got.UID), nil
}

// Resource returns the resource of a kind.
func (w *Writer) Resource(of schema.GVK) (kschema.GroupVersionResource, error) {
	gvk := kschema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return kschema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}

// Event implements apply.Writer. The recorder sends events on its own time
// and drops them when the server cannot take more.
func (w *Writer) Event(_ context.Context, e apply.Event) error {
	reference := &corev1.ObjectReference{
		APIVersion: e.Target.APIVersion(), Kind: e.Target.Kind(),
		Namespace: e.Target.Namespace(), Name: e.Target.Name(), UID: types.UID(e.UID),
	}
	w.recorder.Event(reference, e.Type, e.Reason, e.Message)
	return nil
}
