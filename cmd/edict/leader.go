package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"

	"github.com/spf13/cobra"

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
	// forward reaches the Pod that holds the Lease; nil is a port-forward to it.
	forward func(ctx context.Context, o *origin) (*endpoint, error)
}

func (f *liveFlags) register(cmd *cobra.Command) {
	f.endpoint.register(cmd, "http://localhost:4273 (default: the Pod that holds the Lease in the namespace of the PolicySets)")
	cmd.Flags().StringVar(&f.lease, "lease", "edict", "the name of the Lease of the controllers")
	cmd.Flags().IntVar(&f.port, "decisions-port", 4273, "the port of the Pod at which decisions are served")
}

// ask asks a controller for a path about a decision.
func (f *liveFlags) ask(ctx context.Context, o *origin, path string) ([]byte, error) {
	if f.endpoint.address != "" {
		return f.endpoint.get(ctx, path)
	}
	reach := f.forward
	if reach == nil {
		reach = f.reach
	}
	e, err := reach(ctx, o)
	if err != nil {
		return nil, err
	}
	return e.get(ctx, path)
}

// unanswered says what is done in place of an answer that a controller did not give.
func (f *liveFlags) unanswered(err error) string {
	const instead = "the policy is evaluated here, on the objects of the cluster"
	if _, ok := errors.AsType[*refusal](err); ok {
		return fmt.Sprintf("the controller gives no decision (%v); %s", err, instead)
	}
	return fmt.Sprintf("no running controller answers (%v); %s", err, instead)
}

// reach returns where the holder of the Lease serves decisions. It ends with the context.
func (f *liveFlags) reach(ctx context.Context, o *origin) (*endpoint, error) {
	if err := o.home(ctx, o.about...); err != nil {
		return nil, err
	}
	client, config, err := o.clientset()
	if err != nil {
		return nil, err
	}
	pod, err := cluster.Leader(ctx, client, cluster.Lease{Namespace: o.Context.Namespace, Name: f.lease})
	if err != nil {
		return nil, err
	}
	address, err := cluster.Forward(ctx, config, client, o.Context.Namespace, pod, f.port)
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
	body, err := f.ask(ctx, o, asked(live.Path, policy, key, more))
	if err != nil {
		return nil, err
	}
	var out live.Answer
	if err := json.Unmarshal(body, &out); err != nil || out.Decision == nil {
		return nil, fmt.Errorf("%s does not answer as a controller does", cmp.Or(f.endpoint.address, "the Pod that holds the Lease"))
	}
	return &out, nil
}
