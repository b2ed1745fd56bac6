package run

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// revisionStore keeps the last good revision of every policy in the cluster, so
// that it survives the controller: a ControllerRevision each, whose data cannot
// be changed once it is made, owned by the ConfigMap of the policy.
type revisionStore struct {
	*process
	client kubernetes.Interface
	kept   map[string]kept // by ID
}

// kept is a copy of a policy as it was when it was found good.
type kept struct {
	name string // of the ControllerRevision
	copy policyCopy
}

// policyCopy is everything that a policy decides by.
type policyCopy struct {
	Policy    string                      `json:"policy"`
	Revision  string                      `json:"revision"`
	File      string                      `json:"file"`
	Text      string                      `json:"text"`
	Modules   map[string]string           `json:"modules,omitempty"`
	Overrides map[string]compile.Override `json:"overrides,omitempty"`
}

func newRevisionStore(p *process, client kubernetes.Interface) *revisionStore {
	return &revisionStore{process: p, client: client, kept: map[string]kept{}}
}

// read loads what is kept.
func (s *revisionStore) read(ctx context.Context) error {
	list, err := s.client.AppsV1().ControllerRevisions(s.PolicyNamespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil {
		return err
	}
	newest := map[string]int64{}
	for _, r := range list.Items {
		var c policyCopy
		if err := utiljson.Unmarshal(r.Data.Raw, &c); err != nil || c.Policy == "" {
			s.Log.Warn("a kept revision cannot be read", "name", r.Name)
			continue
		}
		if _, ok := s.kept[c.Policy]; !ok || r.Revision >= newest[c.Policy] {
			s.kept[c.Policy], newest[c.Policy] = kept{name: r.Name, copy: c}, r.Revision
		}
	}
	return nil
}

// lastGood gives the last good revision of a policy; nil if there is none that
// still is.
func (s *revisionStore) lastGood(id string, j judge) *revision {
	k, ok := s.kept[id]
	if !ok {
		return nil
	}
	u := k.copy.unit()
	if u == nil {
		return nil
	}
	v := j.text(u)
	if !v.good() {
		s.Log.Error("what was last found good no longer is", observe.LogPolicy, id, observe.LogRevision, k.copy.Revision)
		return nil
	}
	return &v.revision
}

// unit restores the policy.
func (c *policyCopy) unit() *source.Unit {
	found, _ := load.Documents(c.File, []byte(c.Text))
	for _, doc := range found.Policies {
		if doc.Metadata.Name.Value != c.Policy {
			continue
		}
		u := &source.Unit{Document: doc, File: load.Source{Path: c.File, Text: []byte(c.Text)}, Overrides: c.Overrides, Mode: v1alpha1.ModeEnforce} // no other is kept
		for _, name := range sortedKeys(c.Modules) {
			u.Modules = append(u.Modules, rego.Module{Name: name, Text: c.Modules[name]})
		}
		return u
	}
	return nil
}

func copyOf(u *source.Unit) policyCopy {
	c := policyCopy{Policy: u.Name(), Revision: u.Revision(), File: u.File.Path, Text: string(u.File.Text), Overrides: u.Overrides, Modules: map[string]string{}}
	for _, m := range u.Modules {
		c.Modules[m.Name] = m.Text
	}
	return c
}

// keep stores the policies that were found good and run, and forgets those that are no
// longer there. That it fails is told and does no harm: it is tried again when
// something changes.
func (s *revisionStore) keep(ctx context.Context, c *source.Catalog, verdicts map[string]*verdict, runs func(id string) (revision string)) {
	for _, id := range sortedKeys(verdicts) {
		v := verdicts[id]
		if !v.good() || v.plan.Mode != plan.Enforce || s.kept[id].copy.Revision == v.unit.Revision() || runs(id) != v.unit.Revision() {
			continue
		}
		if err := s.replace(ctx, id, v.unit, c.Origins[id]); err != nil && ctx.Err() == nil {
			s.Log.Error("the revision cannot be kept for a restart", observe.LogPolicy, id, "error", err.Error())
		}
	}
	for id, k := range s.kept {
		if c.Units[id] == nil && !c.Unreadable(k.copy.File) {
			s.remove(ctx, k.name)
			delete(s.kept, id)
		}
	}
}

func (s *revisionStore) replace(ctx context.Context, id string, u *source.Unit, origin *source.Contents) error {
	c := copyOf(u)
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	old, had := s.kept[id]
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("edict-%s-%s", id, c.Revision), Namespace: origin.Namespace,
			Labels:          map[string]string{v1alpha1.LabelRevision: id},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: origin.Name, UID: types.UID(origin.UID)}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: 1,
	}
	_, err = s.client.AppsV1().ControllerRevisions(origin.Namespace).Create(ctx, made, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.kept[id] = kept{name: made.Name, copy: c}
	if had && old.name != made.Name {
		s.remove(ctx, old.name)
	}
	return nil
}

func (s *revisionStore) remove(ctx context.Context, name string) {
	err := s.client.AppsV1().ControllerRevisions(s.PolicyNamespace).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		s.Log.Warn("an old revision cannot be removed", "name", name, "error", err.Error())
	}
}
