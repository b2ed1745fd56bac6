package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/controlplane"
)

type object = map[string]any

const storage = "storage.deckhouse.io/v1alpha1"

var (
	root     = filepath.Join("..", "..")
	policies = filepath.Join(root, "policies")
	crds     = filepath.Join(root, "test", "crds")
)

// cluster is a control plane of one test.
type cluster struct {
	t      *testing.T
	plane  *controlplane.ControlPlane
	client dynamic.Interface
	// braked says that the brakes are meant to do something; in all other tests
	// what the policies do is right, however much it is.
	braked bool
}

// start starts a control plane, with the CRDs unless told otherwise.
func start(t *testing.T, withCRDs bool, apiServerArgs ...string) *cluster {
	t.Helper()
	controlplane.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr, APIServerArgs: apiServerArgs, AuditLog: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, plane: plane, client: client}
	if withCRDs {
		c.installCRDs()
	}
	c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "d8-sds-replicated-volume"}})
	return c
}

func (c *cluster) installCRDs() {
	c.t.Helper()
	if err := c.plane.InstallCRDs(c.t.Context(), crds); err != nil {
		c.t.Fatal(err)
	}
}

var resources = map[string]string{
	"Namespace": "namespaces", "Node": "nodes", "Pod": "pods",
	"ReplicatedStoragePool": "replicatedstoragepools", "LVMVolumeGroup": "lvmvolumegroups", "DRBDResource": "drbdresources",
	"ConfigMap": "configmaps", "Deployment": "deployments", "Service": "services", "ResourceQuota": "resourcequotas",
	"Module": "modules", "NodeModulesConfig": "nodemodulesconfigs",
	"StatefulSet": "statefulsets", "PodDisruptionBudget": "poddisruptionbudgets", "App": "apps", "Job": "jobs",
	"PolicySet": "policysets", "ReplicatedVolume": "replicatedvolumes", "ReplicatedVolumeReplica": "replicatedvolumereplicas",
}

func (c *cluster) of(kind, namespace string) dynamic.ResourceInterface {
	resource := kschema.GroupVersionResource{Version: "v1", Resource: resources[kind]}
	switch kind {
	case "Node", "Pod", "Namespace", "ConfigMap", "Service", "ResourceQuota":
	case "Deployment", "StatefulSet":
		resource.Group = "apps"
	case "PodDisruptionBudget":
		resource.Group = "policy"
	case "Job":
		resource.Group = "batch"
	case "PolicySet":
		resource.Group, resource.Version = "edict.dev", "v1alpha1"
	case "App":
		resource.Group = "platform.example.com"
	case "Module", "NodeModulesConfig":
		resource.Group, resource.Version = "kmm.sigs.x-k8s.io", "v1beta1"
	default:
		resource.Group, resource.Version = "storage.deckhouse.io", "v1alpha1"
	}
	if namespace == "" {
		return c.client.Resource(resource)
	}
	return c.client.Resource(resource).Namespace(namespace)
}

func names(o object) (kind, namespace, name string) {
	u := unstructured.Unstructured{Object: o}
	return u.GetKind(), u.GetNamespace(), u.GetName()
}

// put creates an object, or replaces what it says of spec, labels and
// annotations; the status, if given, is written through its subresource.
func (c *cluster) put(o object) {
	c.t.Helper()
	kind, namespace, name := names(o)
	text, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	var copied object
	if err := json.Unmarshal(text, &copied); err != nil {
		c.t.Fatal(err)
	}
	api := c.of(kind, namespace)
	_, err = api.Create(c.t.Context(), &unstructured.Unstructured{Object: copied}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		c.merge(kind, namespace, name, "", o)
	} else if err != nil {
		c.t.Fatalf("creating %s %s: %v", kind, name, err)
	}
	if o["status"] != nil {
		c.merge(kind, namespace, name, "status", object{"status": o["status"]})
	}
}

// merge writes a merge patch.
func (c *cluster) merge(kind, namespace, name, subresource string, patch object) {
	c.t.Helper()
	body, err := json.Marshal(patch)
	if err != nil {
		c.t.Fatal(err)
	}
	var subresources []string
	if subresource != "" {
		subresources = []string{subresource}
	}
	if _, err := c.of(kind, namespace).Patch(c.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...); err != nil {
		c.t.Fatalf("patching %s %s: %v", kind, name, err)
	}
}

func (c *cluster) delete(kind, namespace, name string) {
	c.t.Helper()
	zero := int64(0)
	err := c.of(kind, namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
	if err != nil && !apierrors.IsNotFound(err) {
		c.t.Fatal(err)
	}
}

func (c *cluster) get(kind, namespace, name string) *unstructured.Unstructured {
	c.t.Helper()
	u, err := c.of(kind, namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

// eventually waits until a condition holds; wrong says what is wrong while it
// does not. It asks less often as time goes by.
func eventually(t *testing.T, what string, wrong func() string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // for machines that are busy
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		text := wrong()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s", what, text)
		}
		time.Sleep(pause)
	}
}

// controller is the real controller, in this process.
type controller struct {
	t        *testing.T
	registry *prometheus.Registry
	log      *lockedBuffer
	stop     func()
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// marking returns the allowances of the policies that write labels and annotations of Nodes.
func marking() (out []any) {
	for _, policy := range []string{
		"agent-node-label", "allowed", "bad", "broken", "computes", "copies", "counter", "fight-a", "fight-b", "greedy", "late", "lamps", "mark", "mark-node", "marks", "modest", "more", "nower", "off", "one", "other",
		"p", "pair", "plain", "test", "timed", "told", "two", "unreadable", "waits", "well",
	} {
		out = append(out, object{"policy": policy, "apiGroup": "", "kind": "Node", "fields": []any{"metadata.labels", "metadata.annotations"}})
	}
	return out
}

// run starts a controller; it is stopped at the end of the test at the
// latest.
func (c *cluster) run(change func(*run.Options)) *controller {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // it outlives t.Context
	out := &controller{t: c.t, registry: prometheus.NewRegistry(), log: &lockedBuffer{}}
	scripted, err := builtins.Scripted(object{"extender": object{"default": int64(5)}})
	if err != nil {
		c.t.Fatal(err)
	}
	options := run.Options{
		Answers: scripted, Config: c.plane.Config(), Policies: []string{policies}, Registry: out.registry, PollInterval: 200 * time.Millisecond,
		Params: compile.Overrides{nodeModules: {"workerImage": {Text: "kmm-worker:latest", From: "the test"}}},
		Log:    slog.New(slog.NewJSONHandler(out.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
	options.Config.QPS, options.Config.Burst = -1, 0
	if change != nil {
		change(&options)
	}
	for _, one := range marking() {
		options.Allow = append(options.Allow, fmt.Sprintf("{policy: %s, apiGroup: '', kind: Node, fields: [metadata.labels, metadata.annotations]}", one.(object)["policy"]))
	}
	options.Allowances = append(options.Allowances, policies+"/allowances.yaml")
	for _, path := range options.Policies {
		beside := filepath.Join(path, source.AllowanceFile)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			beside = filepath.Join(filepath.Dir(path), source.AllowanceFile)
		}
		if _, err := os.Stat(beside); err == nil && !slices.Contains(options.Allowances, beside) {
			options.Allowances = append(options.Allowances, beside)
		}
	}
	done := make(chan error, 1)
	go func() { done <- run.Run(ctx, options) }()
	out.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			c.t.Errorf("the controller: %v", err)
		}
	})
	c.t.Cleanup(func() {
		out.stop()
		if i := strings.Index(out.log.String(), `"brake":"`); i >= 0 && !c.braked {
			c.t.Errorf("the brakes did something: %s", out.log.String()[max(0, i-500):i])
		}
		if c.t.Failed() {
			c.t.Logf("the controller's log:\n%s", out.log.String())
		}
	})
	return out
}

// running waits until policies run. The metrics belong to the process, which
// has run other controllers before; the log is this one's own.
func (o *controller) running(policies ...string) {
	o.t.Helper()
	eventually(o.t, "waiting for the policies to run", func() string {
		log := o.log.String()
		for _, p := range policies {
			if !strings.Contains(log, `"the policy runs","policy":"`+p+`"`) && !regexp.MustCompile(`"the policy runs","policy":"[^"]*/`+p+`"`).MatchString(log) {
				return p + " does not run yet"
			}
		}
		return ""
	})
}

// metric sums a metric over all series of a policy. The metrics are those of the
// process: a test that compares them runs alone, without t.Parallel.
func (o *controller) metric(name, policy string) float64 {
	o.t.Helper()
	families, err := o.registry.Gather()
	if err != nil {
		o.t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "policy" && l.GetValue() == policy {
					sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
	}
	return sum
}

// series counts the series of a metric that a policy has.
func (o *controller) series(name, policy string) (n int) {
	o.t.Helper()
	families, err := o.registry.Gather()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetName() == "policy" && l.GetValue() == policy {
					n++
				}
			}
		}
	}
	return n
}

// controllerRevisions are what the controller keeps its last good policies in.
var controllerRevisions = kschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}

// written counts the writes of a policy that changed something.
func (o *controller) written(policy string) (sum float64) {
	o.t.Helper()
	families, err := o.registry.Gather()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "edict_effects_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["policy"] == policy && labels["result"] == "written" {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

const (
	eligibility = "storage-pool-eligibility"
	label       = "agent-node-label"
)

// evaluations returns how often a policy was evaluated, once it has come to
// rest.
func (o *controller) evaluations(policy string) float64 {
	o.t.Helper()
	last := o.metric("edict_evaluations_total", policy)
	for still := 0; still < 10; {
		time.Sleep(30 * time.Millisecond)
		if now := o.metric("edict_evaluations_total", policy); now != last {
			last, still = now, 0
		} else {
			still++
		}
	}
	return last
}

// node is a node that has been Ready or not since a time.
func node(name, zone string, ready bool, since time.Time) object {
	status := "False"
	if ready {
		status = "True"
	}
	return object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": name, "labels": object{"topology.kubernetes.io/zone": zone}},
		"status": object{"conditions": []any{object{
			"type": "Ready", "status": status, "reason": "Test", "message": "", "lastTransitionTime": since.UTC().Format(time.RFC3339),
		}}},
	}
}

func group(name, nodeName string, ready bool) object {
	status := "False"
	if ready {
		status = "True"
	}
	return object{
		"apiVersion": storage, "kind": "LVMVolumeGroup", "metadata": object{"name": name},
		"spec": object{"type": "Local", "actualVGNameOnTheNode": name, "local": object{"nodeName": nodeName}},
		"status": object{"conditions": []any{object{
			"type": "Ready", "status": status, "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}},
	}
}

func pool(name string, spec object) object {
	full := object{"type": "LVM", "systemNetworkNames": []any{"Internal"}, "eligibleNodesPolicy": object{"notReadyGracePeriod": "10m"}}
	maps.Copy(full, spec)
	return object{"apiVersion": storage, "kind": "ReplicatedStoragePool", "metadata": object{"name": name}, "spec": full}
}

func refs(names ...string) []any {
	var out []any
	for _, n := range names {
		out = append(out, object{"name": n})
	}
	return out
}

func agent(name, nodeName string, ready bool) object {
	status := "False"
	if ready {
		status = "True"
	}
	return object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "namespace": "d8-sds-replicated-volume", "labels": object{"app": "agent"}},
		"spec":     object{"nodeName": nodeName, "containers": []any{object{"name": "agent", "image": "agent:1"}}},
		"status":   object{"conditions": []any{object{"type": "Ready", "status": status}}},
	}
}

// eligible returns the names of a pool's eligible nodes with their flags.
func (c *cluster) eligible(name string) string {
	u := c.get("ReplicatedStoragePool", "", name)
	if u == nil {
		return "(gone)"
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "eligibleNodes")
	var out []string
	for _, item := range list {
		m, _ := item.(object)
		text := fmt.Sprint(m["nodeName"])
		if m["nodeReady"] == false {
			text += "!ready"
		}
		if m["agentReady"] == true {
			text += "+agent"
		}
		if m["unschedulable"] == true {
			text += "!cordoned"
		}
		groups, _ := m["lvmVolumeGroups"].([]any)
		for _, g := range groups {
			entry, _ := g.(object)
			text += "+" + fmt.Sprint(entry["name"])
			if entry["ready"] == false {
				text += "!ready"
			}
			if entry["unschedulable"] == true {
				text += "!unschedulable"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func (c *cluster) wantEligible(name, want string) {
	c.t.Helper()
	eventually(c.t, "the eligible nodes of "+name, func() string {
		if got := c.eligible(name); got != want {
			return fmt.Sprintf("want %q, got %q", want, got)
		}
		return ""
	})
}

const agentLabel = "storage.deckhouse.io/sds-replicated-volume-node"

// labelled returns the nodes that carry the agent label, with its value when it
// is not empty.
func (c *cluster) labelled() string {
	list, err := c.of("Node", "").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, u := range list.Items {
		if v, ok := u.GetLabels()[agentLabel]; ok {
			out = append(out, u.GetName()+v)
		}
	}
	return strings.Join(out, " ")
}

func (c *cluster) wantLabelled(want string) {
	c.t.Helper()
	eventually(c.t, "the nodes with the agent label", func() string {
		if got := c.labelled(); got != want {
			return fmt.Sprintf("want %q, got %q", want, got)
		}
		return ""
	})
}
