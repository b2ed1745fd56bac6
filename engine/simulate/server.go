package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Object is a manifest as plain JSON values.
type Object = map[string]any

// server is an API server in memory. It keeps uid, resourceVersion and
// generation, has status as a subresource, and honours finalizers and owner
// references. It knows no kinds: nothing is defaulted or refused for its
// content.
type server struct {
	objects map[world.ID]Object
	serial  int
	now     func() time.Time
	// changed is told every change: old is nil for a new object, now for one
	// that is gone.
	changed func(id world.ID, old, now Object)
	faults  []*Fault
	// given are the first objects as they were given, until they change: they
	// are shown as they were, without what the server adds.
	given map[world.ID]Object
	// makers are the policies that made objects.
	makers map[world.ID]string
}

// Fault makes the next writes that match fail.
type Fault struct {
	Verb  string `json:"verb"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Times int    `json:"times"`
	Code  int    `json:"code"`
}

func newServer(now func() time.Time) *server {
	return &server{objects: map[world.ID]Object{}, given: map[world.ID]Object{}, makers: map[world.ID]string{}, now: now, changed: func(world.ID, Object, Object) {}}
}

func idOf(o Object) world.ID {
	version, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	m := metadata(o)
	name, _ := m["name"].(string)
	namespace, _ := m["namespace"].(string)
	return world.ID{GVK: schema.GVK{APIVersion: version, Kind: kind}, Namespace: namespace, Name: name}
}

func metadata(o Object) Object {
	m, _ := o["metadata"].(Object)
	return m
}

// list gives every object, sorted by kind, namespace and name.
func (s *server) list() []Object {
	ids := make([]world.ID, 0, len(s.objects))
	for id := range s.objects {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	out := make([]Object, len(ids))
	for i, id := range ids {
		out[i] = s.objects[id]
	}
	return out
}

func compareIDs(a, b world.ID) int {
	return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// shown gives every object as a person sees it.
func (s *server) shown() []Object {
	out := s.list()
	for i, o := range out {
		if given, ok := s.given[idOf(o)]; ok {
			out[i] = given
		}
	}
	return out
}

// begin takes one of the first objects. When it was created is not known,
// unless it says so.
func (s *server) begin(given Object) {
	id := idOf(given)
	next := runtime.DeepCopyJSON(given)
	if metadata(next) == nil {
		next["metadata"] = Object{}
	}
	s.create(id, next)
	s.given[id] = given
}

// put creates an object or replaces it as a whole. The status is kept when
// the given object has none.
func (s *server) put(given Object) {
	id := idOf(given)
	next := runtime.DeepCopyJSON(given)
	if metadata(next) == nil {
		next["metadata"] = Object{}
	}
	old, exists := s.objects[id]
	if !exists {
		setDefault(metadata(next), "creationTimestamp", s.now().UTC().Format(time.RFC3339))
		s.create(id, next)
		return
	}
	if _, has := next["status"]; !has && old["status"] != nil {
		next["status"] = old["status"]
	}
	for _, field := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp"} {
		if v, ok := metadata(old)[field]; ok {
			metadata(next)[field] = v
		}
	}
	s.store(id, old, next)
}

// create adds an object; what a manifest says of its identity is kept.
func (s *server) create(id world.ID, next Object) {
	s.serial++
	m := metadata(next)
	setDefault(m, "uid", fmt.Sprintf("uid-%d", s.serial))
	setDefault(m, "generation", int64(1))
	m["resourceVersion"] = strconv.Itoa(s.serial)
	s.objects[id] = next
	s.changed(id, nil, next)
}

func setDefault(m Object, field string, v any) {
	if m[field] == nil {
		m[field] = v
	}
}

// store replaces an object's state, unless nothing changed.
func (s *server) store(id world.ID, old, next Object) {
	if same(old, next) {
		return
	}
	if !sameSpec(old, next) {
		generation, _ := metadata(old)["generation"].(int64)
		metadata(next)["generation"] = generation + 1
	}
	if deleting(next) && len(finalizers(next)) == 0 {
		s.drop(id, old)
		return
	}
	s.serial++
	delete(s.given, id)
	metadata(next)["resourceVersion"] = strconv.Itoa(s.serial)
	s.objects[id] = next
	s.changed(id, old, next)
}

func same(a, b Object) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return jsonpatch.Equal(x, y)
}

// sameSpec compares everything but metadata and status.
func sameSpec(a, b Object) bool { return same(specOf(a), specOf(b)) }

func specOf(o Object) Object {
	out := Object{}
	for k, v := range o {
		if k != "metadata" && k != "status" {
			out[k] = v
		}
	}
	return out
}

func deleting(o Object) bool { return metadata(o)["deletionTimestamp"] != nil }

func finalizers(o Object) []any {
	list, _ := metadata(o)["finalizers"].([]any)
	return list
}

// remove deletes an object: at once, or when its last finalizer is gone.
func (s *server) remove(id world.ID) {
	old, ok := s.objects[id]
	if !ok {
		return
	}
	if len(finalizers(old)) == 0 {
		s.drop(id, old)
		return
	}
	if deleting(old) {
		return
	}
	next := runtime.DeepCopyJSON(old)
	metadata(next)["deletionTimestamp"] = s.now().UTC().Format(time.RFC3339)
	s.store(id, old, next)
}

// drop takes an object out, and collects the children it owned.
func (s *server) drop(id world.ID, old Object) {
	delete(s.objects, id)
	delete(s.given, id)
	delete(s.makers, id)
	s.changed(id, old, nil)
	uid := metadata(old)["uid"]
	for _, child := range s.list() {
		if owned(child, uid) {
			s.remove(idOf(child))
		}
	}
}

func owned(o Object, uid any) bool {
	owners, _ := metadata(o)["ownerReferences"].([]any)
	for _, owner := range owners {
		m, _ := owner.(Object)
		if uid != nil && m["uid"] == uid {
			return len(owners) == 1
		}
	}
	return false
}

// Patch implements apply.Writer.
func (s *server) Patch(_ context.Context, p apply.Patch) (world.Version, error) {
	resource := kschema.GroupResource{Resource: p.Target.Kind}
	if err := s.fault("patch", p.Target); err != nil {
		return world.Version{}, err
	}
	old, ok := s.objects[p.Target]
	if !ok {
		return world.Version{}, apierrors.NewNotFound(resource, p.Target.Name)
	}
	if p.ResourceVersion != "" && p.ResourceVersion != metadata(old)["resourceVersion"] {
		return world.Version{}, apierrors.NewConflict(resource, p.Target.Name, fmt.Errorf("it is at %v", metadata(old)["resourceVersion"]))
	}
	next, err := merged(old, p)
	if err != nil {
		return world.Version{}, apierrors.NewBadRequest(err.Error())
	}
	s.store(p.Target, old, next)
	return versionOf(s.objects[p.Target]), nil
}

// merged gives the object after a merge patch; a patch of the status touches
// nothing else, and any other leaves the status alone.
func merged(old Object, p apply.Patch) (Object, error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(p.Body)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, body)
	if err != nil {
		return nil, err
	}
	next, err := decode(after)
	if err != nil {
		return nil, err
	}
	if p.Subresource == "status" {
		out := runtime.DeepCopyJSON(old)
		restore(out, next, "status")
		return out, nil
	}
	restore(next, old, "status")
	return next, nil
}

func restore(into, from Object, field string) {
	if v, ok := from[field]; ok {
		into[field] = v
	} else {
		delete(into, field)
	}
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
	next := runtime.DeepCopyJSON(m.Body)
	old, exists := s.objects[m.Target]
	switch {
	case exists && !m.Apply && s.makers[m.Target] == m.Policy && !deleting(old):
		return world.Version{}, apply.ErrExists
	case exists && !m.Apply:
		return world.Version{}, apierrors.NewAlreadyExists(kschema.GroupResource{Resource: m.Target.Kind}, m.Target.Name)
	case exists:
		after, err := merged(old, apply.Patch{Body: next})
		if err != nil {
			return world.Version{}, apierrors.NewBadRequest(err.Error())
		}
		s.store(m.Target, old, after)
	default:
		delete(next, "status") // a subresource
		setDefault(metadata(next), "creationTimestamp", s.now().UTC().Format(time.RFC3339))
		s.create(m.Target, next)
	}
	s.makers[m.Target] = m.Policy
	return versionOf(s.objects[m.Target]), nil
}

// Delete implements apply.Writer.
func (s *server) Delete(_ context.Context, d apply.Deletion) error {
	if err := s.fault("delete", d.Target); err != nil {
		return err
	}
	resource := kschema.GroupResource{Resource: d.Target.Kind}
	old, ok := s.objects[d.Target]
	if !ok {
		return apierrors.NewNotFound(resource, d.Target.Name)
	}
	if d.UID != "" && d.UID != metadata(old)["uid"] {
		return apierrors.NewConflict(resource, d.Target.Name, errors.New("another object has its name"))
	}
	s.remove(d.Target)
	return nil
}

// Event implements apply.Writer. Events are effects only; they are no objects
// of this server.
func (s *server) Event(_ context.Context, e apply.Event) error {
	return s.fault("event", e.Target)
}

// fault fails a write that the timeline wants to fail.
func (s *server) fault(verb string, id world.ID) error {
	for _, f := range s.faults {
		if f.Times <= 0 || f.Verb != "" && f.Verb != verb || f.Kind != "" && f.Kind != id.Kind || f.Name != "" && f.Name != id.Name {
			continue
		}
		f.Times--
		return statusError(f.Code, id)
	}
	return nil
}

func statusError(code int, id world.ID) error {
	resource := kschema.GroupResource{Resource: id.Kind}
	switch code {
	case http.StatusConflict:
		return apierrors.NewConflict(resource, id.Name, errors.New("injected"))
	case http.StatusNotFound:
		return apierrors.NewNotFound(resource, id.Name)
	case 0:
		code = http.StatusInternalServerError
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Message: "injected failure"}}
}
