package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/test/bench/objects"
)

// agentLabel is what the nodes of pools carry.
const agentLabel = "storage.deckhouse.io/sds-replicated-volume-node"

// unlabelled returns how many nodes are without the label.
func (w *world) unlabelled(ctx context.Context) (int, error) {
	list, err := w.client.Resource(nodes).List(ctx, metav1.ListOptions{LabelSelector: "!" + agentLabel})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// placed returns an error unless all replicas have a node, and all nodes the label.
func (w *world) placed(ctx context.Context) error {
	list, err := w.client.Resource(replicas).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	n := 0
	for i := range list.Items {
		if name, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "nodeName"); name != "" {
			n++
		}
	}
	without, err := w.unlabelled(ctx)
	if err == nil && (n != objects.Replicas*w.sizes.volumes || without > 0) {
		err = fmt.Errorf("%d of %d replicas are placed, and %d nodes are without the label", n, objects.Replicas*w.sizes.volumes, without)
	}
	return err
}
