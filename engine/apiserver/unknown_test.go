package apiserver

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func deployment(change func(spec, pod Object)) Object {
	pod := Object{"containers": []any{Object{"name": "c", "image": "i"}}}
	spec := Object{"selector": Object{"matchLabels": Object{"app": "a"}}, "template": Object{"metadata": Object{"labels": Object{"app": "a"}}, "spec": pod}}
	change(spec, pod)
	return Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"namespace": "ns", "name": "d"}, "spec": spec}
}

// TestBuiltinKindsAreValidated: test/conformance has what kube-apiserver answers to each
// value; this is what a reader of the error sees, whichever request was refused.
func TestBuiltinKindsAreValidated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(spec, pod Object)
		want   string
	}{
		"what is allowed":       {func(_, pod Object) { pod["restartPolicy"] = "Always" }, ""},
		"an empty text":         {func(_, pod Object) { pod["dnsPolicy"] = "" }, ""},
		"a value":               {func(_, pod Object) { pod["dnsPolicy"] = "default" }, `spec.template.spec.dnsPolicy: Unsupported value: "default": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"`},
		"a value for this kind": {func(_, pod Object) { pod["restartPolicy"] = "Never" }, `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		"in a list": {func(_, pod Object) {
			pod["containers"] = []any{Object{"name": "c", "image": "i", "ports": []any{Object{"containerPort": int64(80), "protocol": "tcp"}}}}
		}, `spec.template.spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`},
		"other Pods": {func(spec, _ Object) { spec["template"].(Object)["metadata"] = Object{"labels": Object{"app": "b"}} }, "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`"},
		"two at once": {func(spec, pod Object) {
			pod["dnsPolicy"], spec["strategy"] = "x", Object{"type": "Rolling"}
		}, `[spec.strategy.type: Unsupported value: "Rolling": supported values: "Recreate", "RollingUpdate", spec.template.spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := deployment(tc.change)
			for verb, write := range map[string]func(*Server) error{
				"create": func(s *Server) error { _, err := s.Create(made, Options{}); return err },
				"apply":  func(s *Server) error { _, err := s.Apply(ID(made), made, Options{Manager: "m"}); return err },
				"patch": func(s *Server) error {
					s.Load(deployment(func(Object, Object) {}))
					_, err := s.Patch(ID(made), Object{"spec": made["spec"]}, Options{})
					return err
				},
			} {
				switch err := write(newTestServer()); {
				case tc.want == "" && err != nil:
					t.Errorf("%s: %v", verb, err)
				case tc.want != "" && (!apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), `Deployment.apps "d" is invalid: `+tc.want)):
					t.Errorf("%s: %v, want %s", verb, err, tc.want)
				}
			}
		})
	}
}

// TestUnknownValuesMayStay: an object of a test may have a value that kube-apiserver would
// have refused; what changes something else is not.
func TestUnknownValuesMayStay(t *testing.T) {
	t.Parallel()
	s := newTestServer()
	old := deployment(func(_, pod Object) { pod["dnsPolicy"] = "x" })
	s.Load(old)
	if _, err := s.Patch(ID(old), Object{"spec": Object{"replicas": int64(2)}}, Options{}); err != nil {
		t.Error(err)
	}
	if _, err := s.Patch(ID(old), Object{"spec": Object{"template": Object{"spec": Object{"dnsPolicy": "y"}}}}, Options{}); !apierrors.IsInvalid(err) {
		t.Errorf("the error is %v", err)
	}
}
