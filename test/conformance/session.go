package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// server is an API server, real or in memory.
type server interface {
	// do sends a request whose body stands for itself.
	do(ctx context.Context, namespace string, r request) (Object, error)
	// list returns all objects of a kind.
	list(ctx context.Context, namespace string, k *kind) ([]Object, error)
}

// session sends the requests of one scenario to one server.
type session struct {
	server    server
	namespace string
	// uids and versions are those of the objects by name; first are the first
	// versions.
	uids, versions, first map[string]string
	kinds                 map[string]*kind
}

func newSession(s server, namespace string, of scenario) *session {
	out := &session{server: s, namespace: namespace, uids: map[string]string{}, versions: map[string]string{}, first: map[string]string{}, kinds: map[string]*kind{}}
	for _, r := range of.Requests {
		out.kinds[r.Kind.Kind] = r.Kind
	}
	return out
}

// send sends a request, and returns the answer.
func (s *session) send(ctx context.Context, r request) answer {
	r.UID, r.ResourceVersion = s.meant(r.UID), s.meant(r.ResourceVersion)
	if r.Body != nil {
		r.Body, _ = s.resolve(runtime.DeepCopyJSON(r.Body)).(Object)
		if err := s.withoutFinalizer(ctx, r); err != nil {
			return refused(err, r.Kind.validated)
		}
	}
	o, err := s.server.do(ctx, s.namespace, r)
	if err != nil {
		return refused(err, r.Kind.validated)
	}
	if r.Op == remove || r.Op == evict {
		return answer{Code: http.StatusOK}
	}
	return answer{Code: http.StatusOK, Object: s.normal(o, s.seen(o))}
}

// seen notes the identity and the version of an object.
func (s *session) seen(o Object) (version string) {
	m, _ := o["metadata"].(Object)
	name, now := text(m, "name"), text(m, "resourceVersion")
	version = "(new)"
	if now == s.versions[name] {
		version = "(as before)"
	}
	if s.uids[name] != text(m, "uid") {
		s.uids[name], s.first[name] = text(m, "uid"), now
	}
	s.versions[name] = now
	return version
}

// meant returns what a text such as $uid:a stands for.
func (s *session) meant(v string) string {
	for prefix, table := range map[string]map[string]string{"$uid:": s.uids, "$rv:": s.versions, "$rv0:": s.first} {
		if name, ok := strings.CutPrefix(v, prefix); ok {
			return table[name]
		}
	}
	return v
}

func (s *session) resolve(v any) any {
	switch v := v.(type) {
	case Object:
		for field, x := range v {
			v[field] = s.resolve(x)
		}
	case []any:
		for i, x := range v {
			v[i] = s.resolve(x)
		}
	case string:
		return s.meant(v)
	}
	return v
}

// withoutFinalizer makes a patch that takes one finalizer off its object.
func (s *session) withoutFinalizer(ctx context.Context, r request) error {
	m, _ := r.Body["metadata"].(Object)
	finalizer, ok := m["$finalizer"].(string)
	if !ok {
		return nil
	}
	delete(m, "$finalizer")
	o, err := s.server.do(ctx, s.namespace, request{Op: get, Kind: r.Kind, Name: r.Name})
	if err != nil {
		return err
	}
	list, _ := path(o, "metadata", "finalizers").([]any)
	m["finalizers"] = slices.DeleteFunc(list, func(v any) bool { return v == finalizer })
	return nil
}

// everything returns the objects of a scenario's kinds, without what the
// collector's timing decides.
func (s *session) everything(ctx context.Context, of scenario) ([]Object, error) {
	var kinds []*kind
	for _, r := range of.Requests {
		if !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	var out []Object
	for _, k := range kinds {
		list, err := s.server.list(ctx, s.namespace, k)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", k.Kind, err)
		}
		for _, o := range list {
			if text(o["metadata"].(Object), "name") == "kube-root-ca.crt" {
				continue
			}
			o = s.normal(o, "")
			delete(o["metadata"].(Object), "managedFields")
			delete(o, "status")
			delete(o, "spec")
			out = append(out, o)
		}
	}
	return out, nil
}
