package simulate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Object is a manifest as plain JSON values.
type Object = apiserver.Object

// server writes to an API server in memory, and fails where it is told to.
type server struct {
	objects *apiserver.Server
	// changed is told every change: old is nil for a new object, now for one
	// that is gone.
	changed func(id world.ID, old, now Object)
	// seen is told as well, also while no controller runs; nil is not.
	seen   func(id world.ID, old, now Object)
	faults []*Fault
	// kill ends the process after a number of writes.
	kill killing
	// given are the first objects as they were given, until they change: they
	// are shown as they were, without what the server adds.
	given map[world.ID]Object
	// secrets has every version of every Secret.
	secrets []Object
}

// NewWriter returns the writer that a simulation gives its controllers, on an API
// server in memory. It is for tests that run several controllers on one server, and
// come between them and it.
func NewWriter(s *apiserver.Server) apply.Writer { return &server{objects: s} }

func newServer(schemas *schema.Set, now func() time.Time) *server {
	s := &server{given: map[world.ID]Object{}, changed: func(world.ID, Object, Object) {}}
	s.take(apiserver.New(schemas, now))
	return s
}

// take makes a server the one that is written to.
func (s *server) take(objects *apiserver.Server) {
	s.objects = objects
	s.objects.Changed = func(id world.ID, old, now Object) {
		delete(s.given, id)
		s.note(now)
		s.changed(id, old, now)
		if s.seen != nil {
			s.seen(id, old, now)
		}
	}
}

// note keeps a version of a Secret.
func (s *server) note(o Object) {
	if o != nil && apiserver.ID(o).GVK() == schema.Secret {
		s.secrets = append(s.secrets, o)
	}
}

func metadata(o Object) Object {
	m, _ := o["metadata"].(Object)
	return m
}

// shown returns every object as a person sees it.
func (s *server) shown() []Object {
	out := s.objects.List()
	for i, o := range out {
		if given, ok := s.given[apiserver.ID(o)]; ok {
			out[i] = given
			continue
		}
		out[i] = shown(o)
	}
	return out
}

// shown returns an object without its managedFields, as kubectl does.
func shown(o Object) Object {
	if metadata(o)["managedFields"] == nil {
		return o
	}
	out, m := maps.Clone(o), maps.Clone(metadata(o))
	delete(m, "managedFields")
	out["metadata"] = m
	return out
}

// begin takes one of the first objects. When it was created is not known,
// unless it says so.
func (s *server) begin(given Object) {
	s.objects.Load(given)
	s.note(given)
	s.given[apiserver.ID(given)] = given
}

// managerOf is the field manager of a policy.
func managerOf(policy string) string { return world.ManagerPrefix + policy }

// somebody is the field manager of what a timeline or a test writes.
const somebody = "somebody"

// Patch implements apply.Writer.
func (s *server) Patch(_ context.Context, p apply.Patch) (world.Version, error) {
	verb := "patch"
	switch p.Subresource {
	case apply.ScaleSubresource:
		verb = "scale"
	case apply.ApprovalSubresource:
		verb = "approve"
	}
	if err := s.fault(verb, p.Target); err != nil {
		return world.Version{}, err
	}
	body, _ := value.Plain(p.Locked()).(map[string]any)
	o, err := s.objects.Patch(p.Target, body, apiserver.Options{Manager: managerOf(p.Policy), Subresource: p.Subresource})
	return versionOf(o), err
}

func versionOf(o Object) world.Version {
	rv, _ := metadata(o)["resourceVersion"].(string)
	generation, _ := metadata(o)["generation"].(int64)
	return world.Version{ResourceVersion: rv, Generation: generation}
}

// Make implements apply.Writer.
func (s *server) Make(_ context.Context, m apply.Manifest) (world.Version, error) {
	verb := "create"
	if m.Apply {
		verb = "apply"
	}
	if err := s.fault(verb, m.Target); err != nil {
		return world.Version{}, err
	}
	options := apiserver.Options{Manager: managerOf(m.Policy), Force: true}
	if m.Apply && m.Refuse && s.objects.Get(m.Target) != nil && !s.made(m) {
		return world.Version{}, apierrors.NewConflict(kschema.GroupResource{Resource: m.Target.Kind()}, m.Target.Name(), errors.New("it exists, and is not the policy's"))
	}
	if m.Apply {
		o, err := s.objects.Apply(m.Target, m.Body, options)
		return versionOf(o), apply.NameManagers(err, m.Policy, func() []metav1.ManagedFieldsEntry {
			return (&unstructured.Unstructured{Object: s.objects.Get(m.Target)}).GetManagedFields()
		})
	}
	o, err := s.objects.Create(m.Body, options)
	if apierrors.IsAlreadyExists(err) && s.made(m) {
		err = apply.ErrExists
	}
	return versionOf(o), err
}

// made reports whether an object that exists was made by the same policy, for the same
// primary object, and stays.
func (s *server) made(m apply.Manifest) bool {
	o := s.objects.Get(m.Target)
	entries, _ := metadata(o)["managedFields"].([]any)
	return metadata(o)["deletionTimestamp"] == nil && m.KeptFor(annotations(o)) && slices.ContainsFunc(entries, func(raw any) bool {
		entry, _ := raw.(Object)
		return entry["manager"] == managerOf(m.Policy)
	})
}

func annotations(o Object) map[string]string {
	all, _ := metadata(o)["annotations"].(map[string]any)
	out := make(map[string]string, len(all))
	for key, v := range all {
		out[key], _ = v.(string)
	}
	return out
}

// Delete implements apply.Writer.
func (s *server) Delete(_ context.Context, d apply.Deletion) error {
	if err := s.fault("delete", d.Target); err != nil {
		return err
	}
	return s.objects.Delete(d.Target, apiserver.Deletion{Propagation: metav1.DeletionPropagation(d.Propagation), UID: d.UID, ResourceVersion: d.ResourceVersion})
}

// Evict implements apply.Writer.
func (s *server) Evict(_ context.Context, d apply.Deletion) error {
	if err := s.fault("evict", d.Target); err != nil {
		return err
	}
	return s.objects.Evict(d.Target, apiserver.Deletion{UID: d.UID, ResourceVersion: d.ResourceVersion})
}

// Live implements apply.Writer.
func (s *server) Live(_ context.Context, id world.ID) (world.Version, string, error) {
	o := s.objects.Get(id)
	if o == nil {
		return world.Version{}, "", apierrors.NewNotFound(kschema.GroupResource{Group: id.Group(), Resource: id.Kind()}, id.Name())
	}
	uid, _ := metadata(o)["uid"].(string)
	return versionOf(o), uid, nil
}

// Event implements apply.Writer. Events are effects only; they are no objects
// of this server.
func (s *server) Event(_ context.Context, e apply.Event) error {
	return s.fault("event", e.Target)
}
