package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/source"
)

// setClient reads and changes the PolicySets of a namespace, or of all without one.
type setClient struct {
	clusterFlags

	client client.Client
	config *rest.Config
}

// defaultNamespace is where the chart is usually installed.
const defaultNamespace = "edict-system"

// What -n is the namespace of.
const (
	namespaceOfSets   = "the namespace of the PolicySets (default: all namespaces, or " + defaultNamespace + " if these may not be listed)"
	namespaceOfObject = "the namespace of the object, or of the PolicySet if the object is named with its namespace or none is named"
)

// fieldOwner is the field manager of commands.
const fieldOwner = client.FieldOwner("edict-cli")

func (c *setClient) connect() error {
	if c.client != nil {
		return nil
	}
	config, err := c.restConfig()
	if err != nil {
		return found("%v", err)
	}
	c.config = config
	if c.client, err = client.New(config, client.Options{Scheme: run.Scheme}); err != nil {
		return found("%v", err)
	}
	return nil
}

// clusterSet is a PolicySet with its texts.
type clusterSet struct {
	edictv1.PolicySet
	// source is its ConfigMap; nil if there is none.
	source *source.ConfigMap
	texts  []*history.Text
}

// errNoCRD reports that a cluster has no CRD of PolicySets.
var errNoCRD = found("the cluster has no CRD of PolicySets: edict crd | kubectl apply --server-side --force-conflicts -f -")

// find returns the sets of the namespace, by name.
func (c *setClient) find(ctx context.Context) ([]edictv1.PolicySet, error) {
	if err := c.connect(); err != nil {
		return nil, err
	}
	var all edictv1.PolicySetList
	err := c.client.List(ctx, &all, client.InNamespace(c.Context.Namespace))
	if apierrors.IsForbidden(err) && c.Context.Namespace == "" {
		c.Context.Namespace = defaultNamespace
		return c.find(ctx)
	}
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, errNoCRD
	}
	if err != nil {
		return nil, found("listing PolicySets: %v", err)
	}
	return all.Items, nil
}

// homes returns the namespaces of the sets of some names, which may be those of policies in them, or of
// all sets if there is none of these.
func (c *setClient) homes(ctx context.Context, names ...string) (out []string, err error) {
	if c.Context.Namespace != "" {
		return []string{c.Context.Namespace}, nil
	}
	all, err := c.find(ctx)
	named := slices.DeleteFunc(slices.Clone(all), func(s edictv1.PolicySet) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return isNamed(&s, name) })
	})
	if len(named) > 0 {
		all = named
	}
	for i := range all {
		out = append(out, all[i].Namespace)
	}
	if len(out) == 0 {
		out = []string{defaultNamespace}
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// isNamed reports whether a set, or a policy in it, has a name.
func isNamed(s *edictv1.PolicySet, name string) bool {
	set, policy, _ := strings.Cut(name, "/")
	return s.Name == set || policy == "" && slices.ContainsFunc(s.Status.Policies, func(p edictv1.PolicyStatus) bool { return p.Name == name })
}

// home chooses the namespace of the sets of some names, or of all.
func (c *setClient) home(ctx context.Context, names ...string) error {
	homes, err := c.homes(ctx, names...)
	if err != nil {
		return err
	}
	if len(homes) > 1 {
		return found("there are PolicySets in the namespaces %s: choose one with -n", strings.Join(homes, ", "))
	}
	c.Context.Namespace = homes[0]
	return nil
}

// list returns the sets of the namespace with their texts, by name.
func (c *setClient) list(ctx context.Context) (out []*clusterSet, err error) {
	all, err := c.find(ctx)
	for i := range all {
		s, err := c.texts(ctx, &all[i])
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, err
}

// texts reads the texts of a set.
func (c *setClient) texts(ctx context.Context, of *edictv1.PolicySet) (*clusterSet, error) {
	s := &clusterSet{PolicySet: *of}
	var revisions appsv1.ControllerRevisionList
	if err := c.client.List(ctx, &revisions, client.InNamespace(s.Namespace), client.MatchingLabels{history.Label: s.Name}); err != nil {
		return nil, found("reading the history of the PolicySet %s/%s: %v", s.Namespace, s.Name, err)
	}
	s.texts = history.List(&s.PolicySet, revisions.Items)
	m := &corev1.ConfigMap{}
	switch err := c.client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Spec.Source.ConfigMap.Name}, m); {
	case err == nil:
		s.source = source.NewConfigMap(m)
	case !apierrors.IsNotFound(err):
		return nil, found("reading the ConfigMap %s/%s: %v", s.Namespace, s.Spec.Source.ConfigMap.Name, err)
	}
	return s, nil
}

// setNamed returns the set and the policy that an argument names: SET, SET/POLICY or, as for kubectl, policyset/SET.
func setNamed(arg string) (set, policy string) {
	set, policy, _ = strings.Cut(arg, "/")
	if slices.Contains([]string{"policyset", "policysets", "pset", "policysets.edict.dev"}, set) {
		return policy, ""
	}
	return set, policy
}

// get returns the set that an argument names.
func (c *setClient) get(ctx context.Context, arg string) (*clusterSet, error) {
	all, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	name, _ := setNamed(arg)
	var named []*edictv1.PolicySet
	var known, namespaces []string
	for i := range all {
		if known = append(known, all[i].Name); all[i].Name == name {
			named, namespaces = append(named, &all[i]), append(namespaces, all[i].Namespace)
		}
	}
	where := "any namespace"
	if c.Context.Namespace != "" {
		where = "the namespace " + c.Context.Namespace
	}
	switch len(named) {
	case 0:
		return nil, found("there is no PolicySet %q in %s%s", name, where, hinted(nameHint(name, known)))
	case 1:
		return c.texts(ctx, named[0])
	}
	return nil, found("there is a PolicySet %s in each of the namespaces %s: choose one with -n", name, strings.Join(namespaces, ", "))
}

// patch changes a set, and fails if another client has written it since it was read.
func (c *setClient) patch(ctx context.Context, s *clusterSet, edit func(*edictv1.PolicySet)) error {
	before := s.PolicySet.DeepCopy()
	edit(&s.PolicySet)
	err := c.client.Patch(ctx, &s.PolicySet, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)
	switch {
	case apierrors.IsConflict(err):
		return found("the PolicySet %s/%s has changed meanwhile, and nothing was written: look at it and try again", s.Namespace, s.Name)
	case err != nil:
		return found("writing the PolicySet %s/%s: %v", s.Namespace, s.Name, err)
	}
	return nil
}

// present returns the policies of the text that the set asks for.
func (s *clusterSet) present() *source.Contents {
	none := &source.ConfigMap{Namespace: s.Namespace, Name: s.Spec.Source.ConfigMap.Name}
	return source.Read(source.NewSet(&s.PolicySet), cmp.Or(history.Choose(&s.PolicySet, s.source, s.texts).Text, none))
}

// active returns the policies with their active texts, and a note about each whose active text is
// not the present one. With onlyRunning, policies that do not run are left out.
func (s *clusterSet) active(onlyRunning bool) (out *source.Contents, notes []string) {
	out = s.present()
	now := source.Revision(out.Digest())
	for i := range s.Status.Policies {
		p := &s.Status.Policies[i]
		id := identity.PolicyID(s.Name, p.Name)
		switch t := history.ByRevision(s.texts, p.LastGood); {
		case p.LastGood == now || p.Mode == edictv1.ModeDisabled:
		case p.LastGood == "":
			then := "the text is taken"
			if onlyRunning {
				then = "it counts as not there"
				out.Units = slices.DeleteFunc(out.Units, func(u *source.Unit) bool { return u.ID() == id })
			}
			notes = append(notes, fmt.Sprintf("nothing of the policy %s is active (%s); %s", id, cmp.Or(p.Message, p.Reason), then))
		case t == nil:
			notes = append(notes, fmt.Sprintf("the policy %s: active is the text %s, which is not kept, so the present one is taken", id, p.LastGood))
		default:
			notes = append(notes, fmt.Sprintf("the policy %s: active is the text %s, which is taken, not the one in the ConfigMap %s (%s)", id, p.LastGood, s.Spec.Source.ConfigMap.Name, p.Reason))
			out.Units = slices.DeleteFunc(out.Units, func(u *source.Unit) bool { return u.ID() == id })
			for _, u := range source.Read(source.NewSet(&s.PolicySet), t.ConfigMap).Units {
				if u.ID() == id {
					out.Units = append(out.Units, u)
				}
			}
		}
	}
	return out, notes
}
