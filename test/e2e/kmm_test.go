package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/kubelet"
)

const (
	kmm          = "kmm.sigs.x-k8s.io/v1beta1"
	nodeEntries  = "kmm-node-entries"
	moduleHold   = "kmm-module-finalizer"
	nodeModules  = "kmm-node-modules"
	versionSteps = "kmm-version-labels"
)

// kernelNode is a node as kernel modules see it.
func kernelNode(name, kernel string) object {
	n := node(name, "zone-a", true, time.Now().Add(-time.Hour))
	n["metadata"].(object)["labels"] = object{"kmm": "yes"}
	n["status"].(object)["nodeInfo"] = object{"kernelVersion": kernel, "bootID": "boot-1"}
	return n
}

func module(name, image string) object {
	return object{
		"apiVersion": kmm, "kind": "Module", "metadata": object{"name": name, "namespace": "drivers"},
		"spec": object{"selector": object{"kmm": "yes"}, "moduleLoader": object{"container": object{
			"modprobe":       object{"moduleName": name},
			"kernelMappings": []any{object{"regexp": `^6\.`, "containerImage": image}},
		}}},
	}
}

// kernels is a cluster with nodes, played kubelets and the controller.
type kernels struct {
	*cluster
	kubelets *kubelet.Kubelets
	edict    *controller
	// outcomes are how the Pods of a module end, by module name.
	mu       sync.Mutex
	outcomes map[string]kubelet.Outcome
}

func startKernels(t *testing.T, nodes int) *kernels {
	k := preparedKernels(start(t, true), nodes)
	k.edict = k.run(nil)
	k.edict.running(nodeEntries, moduleHold, nodeModules, versionSteps)
	return k
}

// preparedKernels makes the nodes of a cluster, with played kubelets.
func preparedKernels(c *cluster, nodes int) *kernels {
	k := &kernels{cluster: c, outcomes: map[string]kubelet.Outcome{}}
	k.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "drivers"}})
	for i := range nodes {
		name := fmt.Sprintf("k%03d", i)
		k.put(kernelNode(name, "6.1.0-13"))
		// Admission taints every new node; what takes the taint away does not run
		// here.
		k.merge("Node", "", name, "", object{"spec": object{"taints": nil}})
	}
	played, err := kubelet.Start(k.t.Context(), k.plane.Config(), func(p *corev1.Pod) kubelet.Outcome {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.outcomes[p.Labels["kmm.node.kubernetes.io/module.name"]]
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.kubelets = played
	k.t.Cleanup(played.Stop)
	return k
}

func (k *kernels) ends(module string, outcome kubelet.Outcome) {
	k.mu.Lock()
	k.outcomes[module] = outcome
	k.mu.Unlock()
	k.kubelets.Again()
}

// loaded returns the nodes whose status lists a module, with the image.
func (k *kernels) loaded(module string) map[string]string {
	k.t.Helper()
	list, err := k.of("NodeModulesConfig", "").List(k.t.Context(), metav1.ListOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	out := map[string]string{}
	for _, u := range list.Items {
		entries, _, _ := unstructured.NestedSlice(u.Object, "status", "modules")
		for _, item := range entries {
			if e, ok := item.(object); ok && e["name"] == module {
				image, _, _ := unstructured.NestedString(e, "config", "containerImage")
				out[u.GetName()] = image
			}
		}
	}
	return out
}

func (k *kernels) wantLoaded(what, module string, want map[string]string) {
	k.t.Helper()
	eventually(k.t, what, func() string {
		if got := k.loaded(module); !maps.Equal(got, want) {
			return fmt.Sprintf("want %v, got %v", want, got)
		}
		return ""
	})
}

// workers returns the worker Pods, as name: action.
func (k *kernels) workers() map[string]string {
	k.t.Helper()
	list, err := k.of("Pod", "drivers").List(k.t.Context(), metav1.ListOptions{LabelSelector: "kmm.node.kubernetes.io/worker-action"})
	if err != nil {
		k.t.Fatal(err)
	}
	out := map[string]string{}
	for _, u := range list.Items {
		out[u.GetName()] = u.GetLabels()["kmm.node.kubernetes.io/worker-action"]
	}
	return out
}

func (k *kernels) wantNoWorkers() {
	k.t.Helper()
	eventually(k.t, "the worker Pods go", func() string {
		if left := k.workers(); len(left) > 0 {
			return fmt.Sprint(left)
		}
		return ""
	})
}

func onNodes(image string, nodes ...string) map[string]string {
	out := map[string]string{}
	for _, n := range nodes {
		out[n] = image
	}
	return out
}

// TestAKernelModule takes a module through its life: loaded, left alone by a
// cordon, loaded again after a reboot, upgraded, unloaded when it is deleted.
func TestAKernelModule(t *testing.T) {
	k := startKernels(t, 3)
	all := []string{"k000", "k001", "k002"}
	k.put(module("driver", "img:1"))
	k.wantLoaded("loading", "driver", onNodes("img:1", all...))
	k.wantNoWorkers()
	for _, n := range all {
		if label := k.get("Node", "", n).GetLabels()["kmm.node.kubernetes.io/drivers.driver.ready"]; label != "" {
			t.Errorf("%s: the label is %q", n, label)
		}
	}
	if f := k.get("Module", "drivers", "driver").GetFinalizers(); !slices.Contains(f, "kmm.node.kubernetes.io/module-finalizer") {
		t.Errorf("finalizers: %v", f)
	}

	// a cordon changes nothing, and neither does its end
	rest := k.edict.evaluations(nodeModules)
	writes := k.edict.metric("edict_effects_total", nodeModules)
	k.merge("Node", "", "k000", "", object{"spec": object{"unschedulable": true}})
	k.merge("Node", "", "k000", "", object{"spec": object{"unschedulable": false}})
	k.edict.evaluations(nodeModules)
	if after := k.edict.metric("edict_effects_total", nodeModules); after != writes {
		t.Errorf("a cordon led to %v writes (%v evaluations before)", after-writes, rest)
	}

	// a reboot into the same kernel loads it again
	before := k.edict.metric("edict_effects_total", nodeModules)
	if err := k.kubelets.Reboot(t.Context(), "k001", "6.1.0-13", "boot-2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "loading after a reboot", func() string {
		nmc := k.get("NodeModulesConfig", "", "k001")
		entries, _, _ := unstructured.NestedSlice(nmc.Object, "status", "modules")
		for _, item := range entries {
			if e, ok := item.(object); ok && e["bootId"] == "boot-2" {
				return ""
			}
		}
		return fmt.Sprint(entries)
	})
	k.wantNoWorkers()
	if after := k.edict.metric("edict_effects_total", nodeModules); after == before {
		t.Error("nothing was written")
	}

	// another image: unloaded, then loaded
	k.merge("Module", "drivers", "driver", "", module("driver", "img:2"))
	k.wantLoaded("an upgrade", "driver", onNodes("img:2", all...))
	k.wantNoWorkers()

	// deleted: unloaded everywhere, then gone
	k.delete("Module", "drivers", "driver")
	eventually(t, "the module goes", func() string {
		if k.get("Module", "drivers", "driver") != nil {
			return "it is still there"
		}
		return ""
	})
	k.wantLoaded("unloading", "driver", map[string]string{})
	k.wantNoWorkers()
	for _, n := range all {
		for label := range k.get("Node", "", n).GetLabels() {
			if strings.Contains(label, "driver") {
				t.Errorf("%s keeps the label %s", n, label)
			}
		}
	}
}

// TestAnOrderedUpgrade lets the labels of nodes say which version may run
// where.
func TestAnOrderedUpgrade(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	k := startKernels(t, 2)
	versioned := func(version, image string) object {
		m := module("driver", image)
		m["spec"].(object)["moduleLoader"].(object)["container"].(object)["version"] = version
		return m
	}
	want := func(node, version string) {
		k.merge("Node", "", node, "", object{"metadata": object{"labels": object{"kmm.node.kubernetes.io/version-module.drivers.driver": version}}})
	}
	k.put(versioned("1", "img:1"))
	want("k000", "1")
	k.wantLoaded("the first node", "driver", onNodes("img:1", "k000"))
	want("k001", "1")
	k.wantLoaded("the second node", "driver", onNodes("img:1", "k000", "k001"))
	k.put(versioned("2", "img:2"))
	want("k001", "2")
	k.wantLoaded("the second node is upgraded, the first keeps its version", "driver", map[string]string{"k000": "img:1", "k001": "img:2"})
	want("k000", "2")
	k.wantLoaded("both are", "driver", onNodes("img:2", "k000", "k001"))
}

// TestWorkersFail shows Pods that fail, crash and hang: a failed one is made
// again, a crashing one is replaced when what is wanted changes, a hanging one
// is waited for.
func TestWorkersFail(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	k := startKernels(t, 1)
	k.ends("failing", kubelet.Fail)
	k.ends("crashing", kubelet.Crash)
	k.ends("hanging", kubelet.Hang)
	for _, name := range []string{"failing", "crashing", "hanging"} {
		k.put(module(name, "img:1"))
	}
	eventually(t, "the workers", func() string {
		w := k.workers()
		if w["kmm-worker-k000-crashing"] != "Load" || w["kmm-worker-k000-hanging"] != "Load" {
			return fmt.Sprint(w)
		}
		return ""
	})
	k.ends("failing", kubelet.Succeed)
	k.wantLoaded("a failed worker is made again", "failing", onNodes("img:1", "k000"))
	uid := k.get("Pod", "drivers", "kmm-worker-k000-hanging").GetUID()
	k.put(module("hanging", "img:2"))
	k.put(module("crashing", "img:2"))
	eventually(t, "a crashing worker that is out of date is replaced", func() string {
		if p := k.get("Pod", "drivers", "kmm-worker-k000-crashing"); p != nil {
			images, _, _ := unstructured.NestedSlice(p.Object, "spec", "initContainers")
			if len(images) > 0 && images[0].(object)["image"] == "img:2" {
				return ""
			}
		}
		return "not yet"
	})
	if p := k.get("Pod", "drivers", "kmm-worker-k000-hanging"); p == nil || p.GetUID() != uid {
		t.Error("a worker that runs was replaced")
	}
	k.ends("hanging", kubelet.Succeed)
	k.ends("crashing", kubelet.Succeed)
	k.wantLoaded("all end well", "hanging", onNodes("img:2", "k000"))
	k.wantLoaded("all end well", "crashing", onNodes("img:2", "k000"))
}

// TestManyNodes loads 5 modules on 300 nodes, and bounds the writes that it
// takes.
func TestManyNodes(t *testing.T) {
	controlplane.RequireLong(t)
	const nodes, modules = 300, 5
	k := startKernels(t, nodes)
	begin := time.Now()
	for i := range modules {
		k.put(module(fmt.Sprintf("driver-%d", i), "img:1"))
	}
	deadline := time.Now().Add(4 * time.Minute)
	for {
		n := 0
		for i := range modules {
			n += len(k.loaded(fmt.Sprintf("driver-%d", i)))
		}
		if n == nodes*modules && len(k.workers()) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d are loaded, %d workers", n, nodes*modules, len(k.workers()))
		}
		time.Sleep(200 * time.Millisecond)
	}
	took := time.Since(begin).Round(time.Second)
	k.edict.evaluations(nodeModules)
	entries, pods := k.edict.written(nodeEntries), k.edict.written(nodeModules)
	t.Logf("%d nodes x %d modules in %v: %v writes of specs, %v of status, Pods, labels and events", nodes, modules, took, entries, pods)
	// A spec is written once for each state of the Modules that it is written
	// in: at most once per module. A worker is made, its outcome recorded, its
	// finalizer removed, it is deleted, the node labelled and an event told. A
	// fifth more is allowed for what is decided on an older state.
	if entries > nodes*modules*1.2 {
		t.Errorf("%v writes of %d specs with %d modules", entries, nodes, modules)
	}
	if pods > nodes*modules*6*1.2 {
		t.Errorf("%v writes for %d workers", pods, nodes*modules)
	}
	quiet := k.edict.evaluations(nodeModules) + k.edict.evaluations(nodeEntries)
	time.Sleep(time.Second)
	if again := k.edict.evaluations(nodeModules) + k.edict.evaluations(nodeEntries); again != quiet {
		t.Errorf("%v evaluations at rest", again-quiet)
	}
}
