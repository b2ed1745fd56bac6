package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/edict-dev/edict/engine/schema"
)

// writeResources writes under which names the API server serves its kinds.
func writeResources(path string, client discovery.DiscoveryInterface) error {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	text, err := json.MarshalIndent(resourcesOf(lists), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// resourcesOf returns the resources by apiVersion/kind, without subresources but for
// whether there is one to scale by.
func resourcesOf(lists []*metav1.APIResourceList) map[string]schema.Resource {
	out, scaled := map[string]schema.Resource{}, map[string]bool{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if name, ok := strings.CutSuffix(r.Name, "/scale"); ok {
				scaled[list.GroupVersion+"/"+name] = true
			}
		}
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				gvk := schema.GVK{APIVersion: list.GroupVersion, Kind: r.Kind}
				out[gvk.String()] = schema.Resource{Name: r.Name, Namespaced: r.Namespaced, Scale: scaled[list.GroupVersion+"/"+r.Name]}
			}
		}
	}
	return out
}
