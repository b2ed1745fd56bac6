package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
)

// server is an API server with one kind, whose pages hold one object each.
type server struct {
	metadata.Getter
	names      []string
	finalizers map[string][]string
	// before is asked before each patch; its error is the answer.
	before func(s *server, name string) error
	// after is called with each patch that was stored.
	after func(s *server, name string)
}

func (s *server) Resource(kschema.GroupVersionResource) metadata.Getter { return s }
func (s *server) Namespace(string) metadata.ResourceInterface           { return s }

func (s *server) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	if !slices.Contains(s.names, name) {
		return nil, apierrors.NewNotFound(kschema.GroupResource{}, name)
	}
	o := &metav1.PartialObjectMetadata{}
	o.Name, o.Finalizers = name, slices.Clone(s.finalizers[name])
	return o, nil
}

func (s *server) List(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list, at := &metav1.PartialObjectMetadataList{}, 0
	if options.Continue != "" {
		at = slices.Index(s.names, options.Continue)
	}
	if at < len(s.names) {
		o, err := s.Get(ctx, s.names[at], metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *o)
	}
	if at+1 < len(s.names) {
		list.Continue = s.names[at+1]
	}
	return list, nil
}

// Patch knows removals of one finalizer alone, the first.
func (s *server) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	if s.before != nil {
		if err := s.before(s, name); err != nil {
			return nil, err
		}
	}
	if len(s.finalizers[name]) == 0 || !strings.Contains(string(data), fmt.Sprintf("%q", s.finalizers[name][0])) {
		return nil, apierrors.NewInvalid(kschema.GroupKind{}, name, nil)
	}
	s.finalizers[name] = s.finalizers[name][1:]
	if s.after != nil {
		s.after(s, name)
	}
	return &metav1.PartialObjectMetadata{}, nil
}

// released releases from a server and returns the outcomes.
func released(t *testing.T, s *server) (out []string) {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper([]kschema.GroupVersion{{Version: "v1"}})
	mapper.Add(kschema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	r := &Releaser{Client: s, Mapper: mapper, Accounts: &identity.Accounts{}, Report: func(o Outcome) {
		out = append(out, strings.TrimSpace(fmt.Sprint(o.Object.Name, " ", strings.Join(o.Finalizers, ","), " ", o.Err)))
	}}
	r.Release(t.Context(), "p", CountsOf(&plan.Policy{Name: "p", FinalizerUses: []analyze.FinalizerUse{hold(node, "", "own"), hold(pod, "", "own")}}))
	return out
}

// TestPasses: pages are followed, races are repeated, failures are reported once,
// and finalizers that come back are reported as well. Pods are not served, which is fine.
func TestPasses(t *testing.T) {
	t.Parallel()
	first := true
	for name, tc := range map[string]struct {
		server server
		want   []string
	}{
		"nothing there": {server{}, nil},
		"pages":         {server{names: []string{"a", "b", "c"}, finalizers: map[string][]string{"a": {"own"}, "b": {"other"}, "c": {"own"}}}, []string{"a own <nil>", "c own <nil>"}},
		"somebody was faster": {
			server{names: []string{"a"}, finalizers: map[string][]string{"a": {"other", "own"}}, before: func(s *server, name string) error {
				s.finalizers[name] = []string{"own"} // the list has moved since it was read
				if first {
					first = false
					return apierrors.NewInvalid(kschema.GroupKind{}, name, nil)
				}
				return nil
			}}, []string{"a own <nil>"},
		},
		"gone meanwhile": {
			server{names: []string{"a"}, finalizers: map[string][]string{"a": {"own"}}, before: func(s *server, name string) error {
				s.names = nil
				return apierrors.NewNotFound(kschema.GroupResource{}, name)
			}}, []string{"a own <nil>"},
		},
		"refused": {
			server{names: []string{"a", "b"}, finalizers: map[string][]string{"a": {"own"}, "b": {"own"}}, before: func(_ *server, name string) error {
				if name == "a" {
					return errors.New("no")
				}
				return nil
			}}, []string{"a own no", "b own <nil>"},
		},
		"it comes back": {
			server{names: []string{"a"}, finalizers: map[string][]string{"a": {"own"}}, after: func(s *server, name string) { s.finalizers[name] = []string{"own"} }},
			[]string{"a own <nil>", "a own <nil>", "a own <nil>", "own finalizers were found in each of 3 passes: something sets them again"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, released(t, &tc.server)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
