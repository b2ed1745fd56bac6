package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/schema"
)

func TestResourcesOfLeavesSubresourcesOut(t *testing.T) {
	got := resourcesOf([]*metav1.APIResourceList{{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
		{Name: "deployments", Kind: "Deployment", Namespaced: true},
		{Name: "deployments/scale", Kind: "Scale", Namespaced: true},
	}}})
	want := map[string]schema.Resource{"apps/v1/Deployment": {Name: "deployments", Namespaced: true, Scale: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
