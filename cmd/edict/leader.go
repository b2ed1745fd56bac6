package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/live"
)

// liveFlags say where a running controller is: at an address, or in the Pod that
// holds the Lease.
type liveFlags struct {
	endpoint endpoint
	lease    string
	port     int
}

func (f *liveFlags) register(cmd *cobra.Command) {
	f.endpoint.register(cmd, "http://localhost:4273 (default: the Pod that holds the Lease in --policy-namespace)")
	cmd.Flags().StringVar(&f.lease, "lease", "edict", "the name of the Lease of the controllers")
	cmd.Flags().IntVar(&f.port, "decisions-port", 4273, "the port of the Pod at which decisions are served")
}

// reach returns where decisions are served. It ends with the context.
func (f *liveFlags) reach(ctx context.Context, o *origin) (*endpoint, error) {
	if f.endpoint.address != "" {
		return &f.endpoint, nil
	}
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pod, err := cluster.Leader(ctx, client, cluster.Lease{Namespace: o.namespace, Name: f.lease})
	if err != nil {
		return nil, err
	}
	address, err := cluster.Forward(ctx, config, client, o.namespace, pod, f.port)
	if err != nil {
		return nil, err
	}
	return &endpoint{address: address}, nil
}

// asked returns what a controller is asked about a decision.
func asked(path, policy string, key eval.Key, more url.Values) string {
	values := url.Values{"policy": {policy}, "namespace": {key.Namespace}, "name": {key.Name}}
	maps.Copy(values, more)
	return path + "?" + values.Encode()
}

// decision asks a controller for its last decision about a key.
func (f *liveFlags) decision(ctx context.Context, o *origin, policy string, key eval.Key, more url.Values) (*live.Answer, error) {
	e, err := f.reach(ctx, o)
	if err != nil {
		return nil, err
	}
	body, err := e.get(ctx, asked(live.Path, policy, key, more))
	if err != nil {
		return nil, err
	}
	var out live.Answer
	if err := json.Unmarshal(body, &out); err != nil || out.Decision == nil {
		return nil, fmt.Errorf("%s does not answer as a controller does", e.address)
	}
	return &out, nil
}
