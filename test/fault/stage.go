package fault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

type object = map[string]any

var (
	nodes      = kschema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	configMaps = kschema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces = kschema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// stage is where a case runs: a control plane with an audit log, the world that
// the policies decide about, and the controllers.
type stage struct {
	t           *testing.T
	scene       scene
	plane       *controlplane.ControlPlane
	client      dynamic.Interface
	controllers []*controller
	traffic     *traffic
	seed        uint64
	// added counts the policies that were put into sets.
	added atomic.Int64
}

// home is the namespace of the controllers.
const home = "edict-system"

// The size of the world.
const (
	nodeCount, mapCount, zoneCount = 40, 150, 5
)

// scene is what a stage has besides the world and the policies of testdata.
type scene struct {
	// controllers is how many there are.
	controllers int
	// sets is true if policies come from PolicySets, so that others can be added
	// and say how they are.
	sets bool
	// args are further arguments of the controllers.
	args []string
	// edit changes the text of the policies; nil leaves it.
	edit func(text string) string
}

// set makes a stage with a world at rest and n controllers, of which one leads.
func set(t *testing.T, n int) *stage {
	t.Helper()
	return setScene(t, scene{controllers: n})
}

// setScene makes a stage for a scene.
func setScene(t *testing.T, about scene) *stage {
	t.Helper()
	if os.Getenv("EDICT_TEST_FAULT") == "" {
		t.Skip("EDICT_TEST_FAULT=1 (make test-fault) runs it")
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Log: os.Stderr, AuditLog: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := plane.Config()
	config.QPS, config.Burst, config.UserAgent = -1, 0, "fault/traffic"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, scene: about, plane: plane, client: client, seed: 1}
	s.traffic = newTraffic(s)
	s.furnish()
	for i := range about.controllers {
		s.controllers = append(s.controllers, s.controller(fmt.Sprintf("edict-%d", i), config))
	}
	for _, c := range s.controllers {
		c.start()
	}
	s.converged("the world before the fault", time.Minute)
	return s
}

// furnish makes the world.
func (s *stage) furnish() {
	s.t.Helper()
	for _, name := range []string{"source", "target", home} {
		s.must(s.client.Resource(namespaces).Create(s.t.Context(), &unstructured.Unstructured{Object: object{
			"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name},
		}}, metav1.CreateOptions{}))
	}
	for i := range nodeCount {
		s.must(nil, s.traffic.node(s.t.Context(), i))
	}
	for i := range mapCount {
		s.must(nil, s.traffic.write(s.t.Context(), i))
	}
	if s.scene.sets {
		s.must(nil, s.plane.InstallCRDs(s.t.Context(), filepath.Join("..", "..", "api", "crds")))
		s.policy("base", s.text())
	}
}

// text is that of the policies.
func (s *stage) text() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "policies.yaml"))
	s.must(nil, err)
	if s.scene.edit == nil {
		return string(text)
	}
	return s.scene.edit(string(text))
}

func (s *stage) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// controller prepares a process behind a proxy.
func (s *stage) controller(name string, config *rest.Config) *controller {
	s.t.Helper()
	p, err := newProxy(s.t.Context(), name, config, s.seed)
	if err != nil {
		s.t.Fatal(err)
	}
	folder := s.t.TempDir()
	c := &controller{t: s.t, proxy: p, binary: program.Build(s.t), log: filepath.Join(folder, name+".log"), metrics: freeAddress(s.t)}
	c.args = []string{
		"run", "--kubeconfig", kubeconfig(s.t, name, p.URL), "--allowances", "testdata/allowances.yaml",
		"--leader-elect", "--leader-elect-namespace", "edict-system", "--leader-elect-identity", name,
		"--metrics-bind-address", c.metrics, "--health-probe-bind-address", "",
	}
	for _, policy := range markers() {
		c.args = append(c.args, "--allow", "{policy: "+policy+", kind: Node, fields: [metadata.labels, metadata.annotations]}")
	}
	if c.args = append(c.args, s.scene.args...); s.scene.sets {
		c.args = append(c.args, "-n", home)
	} else {
		policies := filepath.Join(folder, "policies.yaml")
		s.must(nil, os.WriteFile(policies, []byte(s.text()), 0o600))
		c.args = append(c.args, "--policies", policies)
	}
	s.t.Cleanup(func() {
		if c.command != nil {
			c.kill()
		}
		if s.t.Failed() {
			s.t.Logf("%s:\n%s", name, c.tail())
		}
		_ = p.close()
	})
	return c
}

// leader waits for the controller that leads, and returns it first.
func (s *stage) leader() (leads *controller, others []*controller) {
	s.t.Helper()
	s.eventually("a leader", time.Minute, func(ctx context.Context) string {
		leads, others = nil, nil
		for _, c := range s.controllers {
			if leads == nil && c.leads(ctx) {
				leads = c
			} else {
				others = append(others, c)
			}
		}
		if leads == nil {
			return "nobody leads"
		}
		return ""
	})
	return leads, others
}

// eventually waits until nothing is wrong, and returns how long that took.
func (s *stage) eventually(what string, within time.Duration, wrong func(ctx context.Context) string) time.Duration {
	s.t.Helper()
	began := time.Now()
	for {
		text := wrong(s.t.Context())
		if text == "" {
			return time.Since(began)
		}
		if time.Since(began) > within {
			s.t.Fatalf("%s, within %v: %s", what, within, text)
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
