package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// origin is where a command finds policies: files, or the ConfigMaps of a
// namespace.
type origin struct {
	policies, schemas, params []string
	kubeconfig, namespace     string
}

// registerAll adds the flags with --policies.
func (o *origin) registerAll(cmd *cobra.Command) {
	o.register(cmd)
	cmd.Flags().StringArrayVar(&o.policies, "policies", nil, "a file or folder of policies; may repeat")
	cmd.MarkFlagsOneRequired("policies", "policy-namespace")
	cmd.MarkFlagsMutuallyExclusive("policies", "policy-namespace")
}

// register adds the flags for a command that takes paths as arguments.
func (o *origin) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.namespace, "policy-namespace", "", "the namespace of ConfigMaps with policies, instead of files")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringArrayVar(&o.params, "param", nil, "policy.name=value; may repeat")
	flags.StringArrayVar(&o.schemas, "schemas", nil, "a folder of CRDs; may repeat")
}

// policySet is what was found.
type policySet struct {
	policies []*plan.Policy
	// configMaps are the names of those that the policies are from, by ID.
	configMaps map[string]string
	// broken are those that do not compile.
	broken []string
	// resources says how their kinds are served.
	resources rbac.Resources
}

// load reads the policies; what is wrong with them is printed. It is an error
// only when nothing is left.
func (o *origin) load(ctx context.Context, errOut io.Writer) (*policySet, error) {
	params, err := parseParams(o.params)
	if err != nil {
		return nil, err
	}
	if o.namespace != "" {
		return o.fromCluster(ctx, errOut, compile.TypedOverrides(params, source.Typed))
	}
	bundle, err := source.Load(o.policies, source.Options{Schemas: o.schemas, Params: params})
	if err != nil {
		return nil, found("%v", err)
	}
	if err := loaded(errOut, bundle); err != nil {
		return nil, err
	}
	return &policySet{policies: bundle.Policies, resources: bundle.Schemas.Resource}, nil
}

func (o *origin) configMaps() (corev1client.ConfigMapInterface, *rest.Config, error) {
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	return client.ConfigMaps(o.namespace), config, nil
}

func (o *origin) fromCluster(ctx context.Context, errOut io.Writer, typed compile.Overrides) (*policySet, error) {
	api, config, err := o.configMaps()
	if err != nil {
		return nil, found("%v", err)
	}
	catalog, err := run.ReadConfigMaps(ctx, api, typed)
	if err != nil {
		return nil, found("%v", err)
	}
	schemas := schema.NewSet(schema.Builtin())
	for _, folder := range o.schemas {
		if err := schemas.AddFolder(folder); err != nil {
			return nil, found("reading schemas: %v", err)
		}
	}
	out, err := compiled(catalog, schemas, errOut)
	if err != nil {
		return nil, err
	}
	if out.resources, err = served(config, schemas); err != nil {
		return nil, found("%v", err)
	}
	return out, nil
}

// served says how a cluster serves kinds; of one that it does not serve yet
// the CRDs at hand may tell.
func served(config *rest.Config, schemas *schema.Set) (rbac.Resources, error) {
	_, mapper, err := clusterMapper(config)
	if err != nil {
		return nil, err
	}
	return func(gvk schema.GVK) (schema.Resource, bool) {
		if r, ok := run.ResourceOf(mapper, gvk); ok {
			return r, true
		}
		return schemas.Resource(gvk)
	}, nil
}

func clusterMapper(config *rest.Config) (*http.Client, meta.RESTMapper, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	return client, mapper, nil
}

// compiled compiles what ConfigMaps hold. Nothing runs here, so a kind without
// a schema is no reason to say anything.
func compiled(catalog *source.Catalog, schemas *schema.Set, errOut io.Writer) (*policySet, error) {
	out := &policySet{configMaps: map[string]string{}}
	for _, contents := range catalog.Contents {
		printErrors(errOut, contents.Problems)
	}
	for id, u := range catalog.Units {
		p, problems, err := u.Compile(schemas)
		if err != nil {
			return nil, err
		}
		printErrors(errOut, problems)
		if p == nil {
			out.broken = append(out.broken, u.Name())
			continue
		}
		out.policies = append(out.policies, p)
		out.configMaps[p.ID()] = path.Base(catalog.Origins[id].Path())
	}
	slices.SortFunc(out.policies, func(a, b *plan.Policy) int { return cmp.Compare(a.ID(), b.ID()) })
	slices.Sort(out.broken)
	if len(out.policies)+len(out.broken) == 0 {
		return nil, found("%v", source.ErrNothing)
	}
	return out, nil
}

// choose gives the policies that are named, or all, and those among them that
// do not compile.
func (s *policySet) choose(names []string) (chosen []*plan.Policy, broken []string, err error) {
	if len(names) == 0 {
		return s.policies, s.broken, nil
	}
	isBroken := func(name string) bool { return slices.Contains(s.broken, name) }
	whole := slices.DeleteFunc(slices.Clone(names), isBroken)
	if len(whole) > 0 {
		chosen, err = choose(s.policies, whole)
	}
	return chosen, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isBroken(name) }), err
}

func printErrors(w io.Writer, problems []document.Problem) {
	for _, p := range problems {
		if p.Severity == document.Error {
			printProblem(w, p)
		}
	}
}
