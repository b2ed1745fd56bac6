package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/controlplane"
)

const (
	agentLabel = "storage.deckhouse.io/sds-replicated-volume-node"
	zoneLabel  = "topology.kubernetes.io/zone"
)

type object = map[string]any

// cluster is the demo's view of the API server.
type cluster struct {
	ctx    context.Context //nolint:containedctx // the demo is one run from start to end
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newCluster(ctx context.Context, plane *controlplane.ControlPlane) (*cluster, error) {
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(plane.Config())
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(plane.Config(), httpClient)
	if err != nil {
		return nil, err
	}
	return &cluster{ctx: ctx, client: client, mapper: mapper}, nil
}

func (c *cluster) of(apiVersion, kind, namespace string) (dynamic.ResourceInterface, error) {
	gvk := kschema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		return c.client.Resource(mapping.Resource), nil
	}
	return c.client.Resource(mapping.Resource).Namespace(namespace), nil
}

// fill creates the objects of a folder, with their status.
func (c *cluster) fill(folder string) error {
	objects, err := simulate.ReadObjects(folder, filepath.Join(folder, "answers.json"))
	if err != nil {
		return err
	}
	namespaces := map[string]bool{"": true, "default": true}
	for _, o := range objects {
		u := &unstructured.Unstructured{Object: o}
		if ns := u.GetNamespace(); !namespaces[ns] {
			namespaces[ns] = true
			space := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": ns}}}
			if err := c.create(space); err != nil {
				return err
			}
		}
		if u.GetKind() == "ReplicatedStoragePool" {
			if err := unstructured.SetNestedField(u.Object, grace.String(), "spec", "eligibleNodesPolicy", "notReadyGracePeriod"); err != nil {
				return err
			}
		}
		if err := c.create(u); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) create(u *unstructured.Unstructured) error {
	api, err := c.of(u.GetAPIVersion(), u.GetKind(), u.GetNamespace())
	if err != nil {
		return err
	}
	status := u.Object["status"]
	_, err = api.Create(c.ctx, u, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && u.GetKind() == "Namespace" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	if status == nil {
		return nil
	}
	return c.merge(api, u.GetName(), object{"status": status}, "status")
}

func (c *cluster) merge(api dynamic.ResourceInterface, name string, patch object, subresources ...string) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = api.Patch(c.ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return err
}

func (c *cluster) delete(apiVersion, kind, namespace, name string) error {
	api, err := c.of(apiVersion, kind, namespace)
	if err != nil {
		return err
	}
	return api.Delete(c.ctx, name, metav1.DeleteOptions{})
}

// ready makes a node Ready or not, from now on.
func (c *cluster) ready(name string, ready bool) error {
	api, err := c.of("v1", "Node", "")
	if err != nil {
		return err
	}
	status := map[bool]string{true: "True", false: "False"}[ready]
	condition := object{"type": "Ready", "status": status, "reason": "Demo", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	return c.merge(api, name, object{"status": object{"conditions": []any{condition}}}, "status")
}

// state is what the table shows.
type state struct {
	nodes    []unstructured.Unstructured
	labelled map[string]bool
	// pools are the entries of the eligible nodes, by pool and node.
	pools map[string]map[string]object
}

func (s state) listed(node string) bool {
	for _, entries := range s.pools {
		if entries[node] != nil {
			return true
		}
	}
	return false
}

func (s state) readyIn(node string) bool {
	for _, entries := range s.pools {
		if e := entries[node]; e != nil && e["nodeReady"] != true {
			return false
		}
	}
	return true
}

func (c *cluster) state() (state, error) {
	s := state{labelled: map[string]bool{}, pools: map[string]map[string]object{}}
	nodes, err := c.list("v1", "Node")
	if err != nil {
		return s, err
	}
	s.nodes = nodes
	for _, n := range nodes {
		_, s.labelled[n.GetName()] = n.GetLabels()[agentLabel]
	}
	pools, err := c.list("storage.deckhouse.io/v1alpha1", "ReplicatedStoragePool")
	if err != nil {
		return s, err
	}
	for _, p := range pools {
		s.pools[p.GetName()] = nil
		entries, _, _ := unstructured.NestedSlice(p.Object, "status", "eligibleNodes")
		for _, item := range entries {
			if s.pools[p.GetName()] == nil {
				s.pools[p.GetName()] = map[string]object{}
			}
			if m, ok := item.(object); ok {
				s.pools[p.GetName()][fmt.Sprint(m["nodeName"])] = m
			}
		}
	}
	return s, nil
}

func (c *cluster) list(apiVersion, kind string) ([]unstructured.Unstructured, error) {
	api, err := c.of(apiVersion, kind, "")
	if err != nil {
		return nil, err
	}
	list, err := api.List(c.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// until waits for a state, and shows it with the time that it took.
func (c *cluster) until(what string, holds func(state) bool) error {
	say("%s", what)
	start := time.Now()
	for {
		s, err := c.state()
		if err != nil {
			return err
		}
		if holds(s) {
			fmt.Printf("   (after %v)\n", time.Since(start).Round(10*time.Millisecond))
			return c.show()
		}
		if time.Since(start) > time.Minute {
			return fmt.Errorf("a minute has passed, and it has not happened: %s", what)
		}
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// show prints the nodes as the pools see them.
func (c *cluster) show() error {
	s, err := c.state()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', 0)
	fmt.Fprintf(t, "   NODE\tZONE\tREADY\tAGENT LABEL\tPOOL data\tPOOL fast\n")
	for _, n := range s.nodes {
		label := "-"
		if s.labelled[n.GetName()] {
			label = "yes"
		}
		fmt.Fprintf(t, "   %s\t%s\t%s\t%s\t%s\t%s\n", n.GetName(), n.GetLabels()[zoneLabel], nodeReady(n), label,
			entry(s.pools["data"][n.GetName()]), entry(s.pools["fast"][n.GetName()]))
	}
	return t.Flush()
}

func nodeReady(n unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(n.Object, "status", "conditions")
	for _, item := range conditions {
		if m, ok := item.(object); ok && m["type"] == "Ready" {
			return fmt.Sprint(m["status"])
		}
	}
	return "?"
}

// entry shows an entry of a pool's list in short.
func entry(e object) string {
	if e == nil {
		return "-"
	}
	parts := []string{"ready=" + map[bool]string{true: "yes", false: "no"}[e["nodeReady"] == true]}
	if e["unschedulable"] == true {
		parts = append(parts, "cordoned")
	}
	groups, _ := e["lvmVolumeGroups"].([]any)
	for _, g := range groups {
		if m, ok := g.(object); ok {
			parts = append(parts, fmt.Sprint(m["name"]))
		}
	}
	return strings.Join(parts, " ")
}
