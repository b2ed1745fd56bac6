package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
)

// extenderFlags say where the scheduler extender is. That is for whoever runs
// the controller to say, never for a policy.
type extenderFlags struct{ extender.Config }

// extenderVariable is the environment variable for the URL.
const extenderVariable = "SCHEDULER_EXTENDER_URL"

func (f *extenderFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.URL, "extender-url", os.Getenv(extenderVariable), "the scheduler extender, such as https://extender.example.svc:8099 ($"+extenderVariable+")")
	flags.StringVar(&f.CAFile, "extender-ca-file", "", "the authorities that its certificate may come from (default: the system's)")
	flags.StringVar(&f.CertFile, "extender-cert-file", "", "the client certificate to show it")
	flags.StringVar(&f.KeyFile, "extender-key-file", "", "the key of the client certificate")
	flags.StringVar(&f.ServerName, "extender-server-name", "", "the name in its certificate (default: the host of the URL)")
	flags.BoolVar(&f.InsecureSkipVerify, "extender-insecure-skip-verify", false, "accept any certificate; only for experiments")
	flags.DurationVar(&f.Timeout, "extender-timeout", 0, "how long a request may take (default 10s)")
	flags.IntVar(&f.MaxConcurrent, "extender-max-concurrent", 0, "how many requests may be under way at once (default 16)")
}

// connect makes the client, if there is an address.
func (f *extenderFlags) connect(o *run.Options) error {
	if f.URL == "" {
		return nil
	}
	f.OnStateChange = func(from, to string) {
		o.Log.Warn("the scheduler extender's circuit has changed its state", "from", from, "to", to)
	}
	if f.InsecureSkipVerify {
		o.Log.Warn("the scheduler extender's certificate is not verified: --extender-insecure-skip-verify")
	}
	client, err := extender.New(f.Config)
	if err != nil {
		return err
	}
	o.Registry = prometheus.NewRegistry()
	if err := o.Registry.Register(client); err != nil {
		return fmt.Errorf("the metrics of the scheduler extender: %w", err)
	}
	o.Answers = expr.Answerers{"extender": client}
	return nil
}
