package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/kubelet"
)

const kmm = "kmm.sigs.x-k8s.io/v1beta1"

// modules shows a kernel module that is rolled out over all nodes, upgraded
// and taken back. The kubelets are played: worker Pods end well after a while.
func modules(ctx context.Context, plane *controlplane.ControlPlane, c *cluster) error {
	say("Kernel modules. The kubelets of the six nodes are played: a worker Pod ends well, nothing is executed.")
	played, err := kubelet.Start(ctx, plane.Config(), nil)
	if err != nil {
		return err
	}
	defer played.Stop()
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.create(&unstructured.Unstructured{Object: driver("registry.example.com/driver:1")}); err != nil {
		return err
	}
	if err := c.untilLoaded("A Module is created: every node gets a worker Pod that loads it.", "registry.example.com/driver:1", 6); err != nil {
		return err
	}
	api, err := c.of(kmm, "Module", "drivers")
	if err != nil {
		return err
	}
	if err := c.merge(api, "driver", driver("registry.example.com/driver:2")); err != nil {
		return err
	}
	if err := c.untilLoaded("Its image is changed: unloaded and loaded again, node by node, never two workers on one.", "registry.example.com/driver:2", 6); err != nil {
		return err
	}
	if err := c.delete(kmm, "Module", "drivers", "driver"); err != nil {
		return err
	}
	return c.untilLoaded("It is deleted: unloaded everywhere, and only then gone.", "", 0)
}

// prepare returns the nodes a kernel, and takes away the taint with which
// admission begins every node.
func (c *cluster) prepare() error {
	api, err := c.of("v1", "Node", "")
	if err != nil {
		return err
	}
	nodes, err := c.list("v1", "Node")
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := c.merge(api, n.GetName(), object{"spec": object{"taints": nil}, "metadata": object{"labels": object{"driver": "wanted"}}}); err != nil {
			return err
		}
		if err := c.merge(api, n.GetName(), object{"status": object{"nodeInfo": object{"kernelVersion": "6.12.43-amd64", "bootID": "boot-" + n.GetName()}}}, "status"); err != nil {
			return err
		}
	}
	return c.create(&unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "drivers"}}})
}

func driver(image string) object {
	return object{
		"apiVersion": kmm, "kind": "Module", "metadata": object{"name": "driver", "namespace": "drivers"},
		"spec": object{
			"selector": object{"driver": "wanted"},
			"tolerations": []any{ // one node of the example is cordoned
				object{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
			},
			"moduleLoader": object{"container": object{
				"modprobe":       object{"moduleName": "driver"},
				"kernelMappings": []any{object{"regexp": `^6\.12`, "containerImage": image}},
			}},
		},
	}
}

// untilLoaded waits until a number of nodes have an image loaded and no
// worker Pod is left, and shows the nodes.
func (c *cluster) untilLoaded(what, image string, want int) error {
	say("%s", what)
	start := time.Now()
	for {
		loaded, workers, err := c.kernelState()
		if err != nil {
			return err
		}
		n := 0
		for _, have := range loaded {
			if have == image {
				n++
			}
		}
		nodes, err := c.list("v1", "Node")
		if err != nil {
			return err
		}
		if n == want && workers == 0 && labelled(nodes) == want && (want > 0 || len(loaded) == 0) {
			fmt.Printf("   (after %v)\n", time.Since(start).Round(10*time.Millisecond))
			return showKernels(nodes, loaded)
		}
		if time.Since(start) > time.Minute {
			return fmt.Errorf("a minute has passed, and %d of %d nodes are there", n, want)
		}
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kernelState returns the image that is loaded on each node, and the number of
// worker Pods.
func (c *cluster) kernelState() (loaded map[string]string, workers int, err error) {
	configs, err := c.list(kmm, "NodeModulesConfig")
	if err != nil {
		return nil, 0, err
	}
	loaded = map[string]string{}
	for _, u := range configs {
		entries, _, _ := unstructured.NestedSlice(u.Object, "status", "modules")
		for _, item := range entries {
			if e, ok := item.(object); ok {
				loaded[u.GetName()], _, _ = unstructured.NestedString(e, "config", "containerImage")
			}
		}
	}
	pods, err := c.list("v1", "Pod")
	for _, p := range pods {
		if p.GetLabels()["kmm.node.kubernetes.io/worker-action"] != "" {
			workers++
		}
	}
	return loaded, workers, err
}

const readyLabel = "kmm.node.kubernetes.io/drivers.driver.ready"

// labelled counts the nodes that are said to have the module.
func labelled(nodes []unstructured.Unstructured) (n int) {
	for _, node := range nodes {
		if _, ok := node.GetLabels()[readyLabel]; ok {
			n++
		}
	}
	return n
}

func showKernels(nodes []unstructured.Unstructured, loaded map[string]string) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', 0)
	fmt.Fprintf(t, "   NODE\tKERNEL\tMODULE driver\tREADY LABEL\n")
	for _, n := range nodes {
		kernel, _, _ := unstructured.NestedString(n.Object, "status", "nodeInfo", "kernelVersion")
		image, label := loaded[n.GetName()], "-"
		if _, ok := n.GetLabels()[readyLabel]; ok {
			label = "yes"
		}
		if image == "" {
			image = "-"
		}
		fmt.Fprintf(t, "   %s\t%s\t%s\t%s\n", n.GetName(), kernel, strings.TrimPrefix(image, "registry.example.com/"), label)
	}
	return t.Flush()
}
