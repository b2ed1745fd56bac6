package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// installFlags are those of edict manifests.
type installFlags struct {
	policyFiles

	name, mode, output string
	bind               bindFlags
}

func manifestsCommand() *cobra.Command {
	f := installFlags{mode: string(edictv1.ModeShadow), bind: bindFlags{prefix: identity.DefaultPrefix}}
	cmd := &cobra.Command{
		Use:   "manifests PATH...",
		Short: "Print the manifests that run policies in a cluster",
		Long: `Prints a ConfigMap with the policies and tests at each PATH, a PolicySet that runs
them, the ServiceAccount that it writes as, and the permissions of this account and of
the controller. The PolicySet has the allowances beside the policies, and the values of
--params and --param.`,
		Example: "  edict manifests endpoints | kubectl apply -f -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the name of the PolicySet (default: that of the first file or folder)")
	flags.Var(&choice{&f.mode, []string{f.mode, string(edictv1.ModeEnforce), string(edictv1.ModeDisabled)}}, "mode", "the mode of the PolicySet: Shadow, Enforce or Disabled")
	flags.StringVarP(&f.bind.namespace, "namespace", "n", defaultNamespace, "the namespace of the controller")
	flags.StringVar(&f.bind.controller, "service-account", "edict", "the ServiceAccount of the controller")
	outputFlag(cmd, &f.output, "yaml", "json")
	return f.takePaths(cmd, 1)
}

func (f *installFlags) run(out, errOut io.Writer) error {
	f.name = cmp.Or(f.name, nameOfPath(f.policies[0]))
	b, err := f.load(f.policies, source.Options{Edit: func(u *source.Unit) { u.Set, u.Document.Set = f.name, f.name }})
	if err != nil {
		return err
	}
	if err := runnable(errOut, b); err != nil {
		return err
	}
	g := guard.New(nil)
	g.Add(f.name, false, b.Allowances)
	printLacks(errOut, &g, b.Policies)
	permissions, err := rbac.Of(b.Policies, plan.InForce, b.Schemas.Resource)
	if err != nil {
		return found("%v", err)
	}
	objects, err := f.objects(b)
	if err != nil {
		return err
	}
	list := append(f.bind.roles("edict", permissions), f.bind.impersonation(f.name))
	if f.output == "json" {
		return printList(out, append(objects, roleObjects(list)...))
	}
	for _, o := range objects {
		if err := writeYAML(out, o); err != nil {
			return err
		}
		fmt.Fprintln(out, "---")
	}
	return printRolesYAML(out, list)
}

// nameOfPath returns the name of a folder, or of a file without its ending.
func nameOfPath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// account is the ServiceAccount of the set.
func (f *installFlags) account() string { return f.bind.prefix + f.name }

// objects returns the ConfigMap, the PolicySet and its ServiceAccount.
func (f *installFlags) objects(b *source.Bundle) ([]any, error) {
	data, err := f.files(b)
	if err != nil {
		return nil, err
	}
	spec := edictv1.PolicySetSpec{Mode: edictv1.Mode(f.mode), Allow: allowOf(b), ServiceAccountName: f.account()}
	spec.Source.ConfigMap.Name = "edict-" + f.name
	spec.Params, err = paramsGiven(b.Policies)
	object := func(apiVersion, kind, name, field string, value any) any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": f.bind.namespace}, field: value}
	}
	return []any{
		object("v1", "ConfigMap", spec.Source.ConfigMap.Name, "data", data),
		object(v1alpha1.APIVersion, "PolicySet", f.name, "spec", spec),
		object("v1", "ServiceAccount", f.account(), "automountServiceAccountToken", false),
	}, err
}

// files returns the files of policies, their Rego and tests as the keys of a ConfigMap, which are named as
// the files are.
func (f *installFlags) files(b *source.Bundle) (map[string]string, error) {
	var files []string
	for _, u := range b.Units {
		files = append(files, u.File.Path)
		for _, m := range u.Modules {
			files = append(files, m.Name)
		}
	}
	for _, t := range b.Tests {
		files = append(files, t.Pos.File)
	}
	data := map[string]string{}
	if text := f.texts[standardInput]; text != nil {
		files = slices.DeleteFunc(files, func(file string) bool { return file == standardInput })
		data["policies.yaml"] = string(text)
	}
	slices.Sort(files)
	return data, readKeys(data, slices.Compact(files))
}

// allowOf returns the allowances of the policies as a PolicySet has them.
func allowOf(b *source.Bundle) (out []edictv1.Allowance) {
	values := func(list []v1alpha1.Text) (out []string) {
		for _, t := range list {
			out = append(out, t.Value)
		}
		return out
	}
	for _, a := range b.Allowances {
		if !slices.ContainsFunc(b.Policies, func(p *plan.Policy) bool { return p.Named(a.Policy.Value) }) {
			continue
		}
		one := edictv1.Allowance{Policy: a.Policy.Value, APIGroup: new("*"), Kind: a.ForKind.Value, Fields: values(a.Fields), Namespaces: values(a.Namespaces), Obeys: values(a.Obeys)}
		if a.APIGroup.Set() {
			one.APIGroup = &a.APIGroup.Value
		}
		out = append(out, one)
	}
	return out
}

// paramsGiven returns the values that are given for params, as a PolicySet has them.
func paramsGiven(policies []*plan.Policy) (out map[string]edictv1.Values, err error) {
	out = map[string]edictv1.Values{}
	for _, p := range policies {
		values := edictv1.Values{}
		for _, i := range p.ParamInfo {
			if i.From == "" {
				continue
			}
			raw, err := json.Marshal(value.Plain(i.Value))
			if err != nil {
				return nil, found("the param %s of the policy %s: %v", i.Name, p.Name, err)
			}
			values[i.Name], out[p.Name] = apiextensionsv1.JSON{Raw: raw}, values
		}
	}
	return out, nil
}
