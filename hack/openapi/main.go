// Command openapi writes the schemas of Kubernetes' own kinds, as a real API
// server publishes them, to one compressed file that the engine embeds, and
// under which names it serves them to another:
//
//	go run ./hack/openapi [-o engine/schema/builtin.json.gz] [-resources engine/schema/resources.json]
//
// The first file is {"components": {"schemas": {name: schema}}} without
// descriptions, with sorted keys. Both change only with the Kubernetes version
// of the test control plane, or with the list of groups below.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"

	"github.com/edict-dev/edict/test/controlplane"
)

// groups are those whose kinds policies are likely to read or write; kinds of
// other groups are read without a schema.
var groups = []schema.GroupVersion{
	{Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"},
	{Group: "apiextensions.k8s.io", Version: "v1"},
	{Group: "apiregistration.k8s.io", Version: "v1"},
	{Group: "apps", Version: "v1"},
	{Group: "autoscaling", Version: "v1"},
	{Group: "autoscaling", Version: "v2"},
	{Group: "batch", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1"},
	{Group: "coordination.k8s.io", Version: "v1"},
	{Group: "discovery.k8s.io", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1"},
	{Group: "node.k8s.io", Version: "v1"},
	{Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1"},
	{Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1"},
}

func main() {
	output := flag.String("o", "engine/schema/builtin.json.gz", "file to write")
	resources := flag.String("resources", "engine/schema/resources.json", "file to write the names of the resources to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *output, *resources); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, output, resources string) (err error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	client, err := discovery.NewDiscoveryClientForConfig(plane.Config())
	if err != nil {
		return err
	}
	schemas, err := fetch(openapi3.NewRoot(client.OpenAPIV3()))
	if err != nil {
		return err
	}
	if err := writeFile(output, schemas); err != nil {
		return err
	}
	return writeResources(resources, client)
}

// fetch returns the schemas of all groups, by name.
func fetch(root openapi3.Root) (map[string]any, error) {
	merged := map[string]any{}
	for _, group := range groups {
		document, err := root.GVSpecAsMap(group)
		if err != nil {
			return nil, fmt.Errorf("fetching the schemas of %s: %w", group, err)
		}
		if err := merge(merged, document); err != nil {
			return nil, fmt.Errorf("merging the schemas of %s: %w", group, err)
		}
	}
	return merged, nil
}
