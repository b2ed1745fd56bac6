package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/source"
)

// setClient reads and changes the PolicySets of a namespace.
type setClient struct {
	kubeconfig, namespace string

	client client.Client
	config *rest.Config
}

// defaultNamespace is where the chart is usually installed.
const defaultNamespace = "edict-system"

// fieldOwner is the field manager of commands.
const fieldOwner = client.FieldOwner("edict-cli")

func (c *setClient) connect() error {
	if c.client != nil {
		return nil
	}
	config, err := clusterConfig(c.kubeconfig)
	if err != nil {
		return found("%v", err)
	}
	scheme := runtime.NewScheme()
	if err := cmp.Or(clientgoscheme.AddToScheme(scheme), edictv1.AddToScheme(scheme)); err != nil {
		return err
	}
	c.config = config
	if c.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
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

// list returns the sets of the namespace, by name.
func (c *setClient) list(ctx context.Context) (out []*clusterSet, err error) {
	if err := c.connect(); err != nil {
		return nil, err
	}
	var all edictv1.PolicySetList
	if err := c.client.List(ctx, &all, client.InNamespace(c.namespace)); err != nil {
		return nil, found("reading the PolicySets of the namespace %s: %v", c.namespace, err)
	}
	var revisions appsv1.ControllerRevisionList
	if err := c.client.List(ctx, &revisions, client.InNamespace(c.namespace), client.HasLabels{history.Label}); err != nil {
		return nil, found("reading the history of the PolicySets: %v", err)
	}
	for i := range all.Items {
		s := &clusterSet{PolicySet: all.Items[i]}
		s.texts = history.List(&s.PolicySet, revisions.Items)
		m := &corev1.ConfigMap{}
		switch err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: s.Spec.Source.ConfigMap.Name}, m); {
		case err == nil:
			s.source = source.NewConfigMap(m)
		case !apierrors.IsNotFound(err):
			return nil, found("reading the ConfigMap %s/%s: %v", c.namespace, s.Spec.Source.ConfigMap.Name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// get returns a set by its name, or by that of one of its policies as SET/POLICY.
func (c *setClient) get(ctx context.Context, name string) (*clusterSet, error) {
	all, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	set, policy := identity.ParsePolicyID(name)
	set = cmp.Or(set, policy)
	var known []string
	for _, s := range all {
		if s.Name == set {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return nil, found("there is no PolicySet %q in the namespace %s%s", set, c.namespace, hinted(nameHint(set, known)))
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
	text := history.Choose(&s.PolicySet, s.source, s.texts).Text
	if text == nil {
		text = &source.ConfigMap{Namespace: s.Namespace, Name: s.Spec.Source.ConfigMap.Name}
	}
	return source.Read(source.NewSet(&s.PolicySet), text)
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
