package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const ship = "shipshape"

// restarts shows a ConfigMap of which the workloads restart when its data
// changes, once per window however often it is edited.
func restarts(c *cluster) error {
	say("A ConfigMap and two Deployments that use it. kube-controller-manager rolls them, as in any cluster.")
	for _, o := range []object{settings("1"), deployment("api"), deployment("web")} {
		if err := c.create(&unstructured.Unstructured{Object: o}); err != nil {
			return err
		}
	}
	if err := c.untilRolled("Each has its first ReplicaSet. Nothing is restarted for a ConfigMap that is new.", 1); err != nil {
		return err
	}
	if err := c.edit("2"); err != nil {
		return err
	}
	if err := c.untilRolled("The ConfigMap is edited: each is rolled at once.", 2); err != nil {
		return err
	}
	const edits = 10
	for n := range edits {
		if err := c.edit(fmt.Sprint("3.", n)); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return c.untilRolled(fmt.Sprintf("It is edited %d times within a second: one roll-out, with the last of them, five seconds after the one before.", edits), 3)
}

// shipyard creates the namespace of the workloads. It is there before the
// controller starts: a policy waits for its namespace, and takes a ConfigMap that
// it sees for the first time as it is.
func shipyard(c *cluster) error {
	return c.create(&unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": ship}}})
}

func settings(message string) object {
	return object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "settings", "namespace": ship, "labels": object{"app": "helloworld", "env": "test"}},
		"data": object{"MESSAGE": message},
	}
}

func (c *cluster) edit(message string) error {
	api, err := c.of("v1", "ConfigMap", ship)
	if err != nil {
		return err
	}
	return c.merge(api, "settings", settings(message))
}

func deployment(name string) object {
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": ship, "labels": object{"app": "helloworld", "env": "test"}},
		"spec": object{"replicas": int64(1), "selector": object{"matchLabels": object{"name": name}}, "template": object{
			"metadata": object{"labels": object{"name": name}},
			"spec":     object{"containers": []any{object{"name": "c", "image": "registry.example.com/hello:1", "envFrom": []any{object{"configMapRef": object{"name": "settings"}}}}}},
		}},
	}
}

// untilRolled waits until every Deployment was rolled out so often, and shows
// them.
func (c *cluster) untilRolled(what string, want int) error {
	say("%s", what)
	start := time.Now()
	for {
		rolled, err := c.rollOuts()
		if err != nil {
			return err
		}
		if rolled["api"] >= want && rolled["web"] >= want {
			fmt.Printf("   (after %v)\n", time.Since(start).Round(10*time.Millisecond))
			return c.showRolled(rolled)
		}
		if time.Since(start) > time.Minute {
			return fmt.Errorf("a minute has passed, and there are %v roll-outs", rolled)
		}
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// rollOuts counts the ReplicaSets of each Deployment.
func (c *cluster) rollOuts() (map[string]int, error) {
	sets, err := c.list("apps/v1", "ReplicaSet")
	out := map[string]int{}
	for _, s := range sets {
		out[s.GetLabels()["name"]]++
	}
	return out, err
}

func (c *cluster) showRolled(rolled map[string]int) error {
	deployments, err := c.list("apps/v1", "Deployment")
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', 0)
	fmt.Fprintf(t, "   DEPLOYMENT\tREPLICASETS\tRESTARTED AT\tFOR DATA\n")
	for _, d := range deployments {
		at, hash := "-", "-"
		annotations, _, _ := unstructured.NestedStringMap(d.Object, "spec", "template", "metadata", "annotations")
		for name, value := range annotations {
			if name == "shipshape.io/restartedAt" {
				at = value
			} else if len(value) > 12 {
				hash = value[:12]
			}
		}
		fmt.Fprintf(t, "   %s\t%d\t%s\t%s\n", d.GetName(), rolled[d.GetName()], at, hash)
	}
	return t.Flush()
}
