package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

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
	name   string // of the ControllerRevision
	number int64
	owner  types.UID // of the ConfigMap: the copy goes with it
	copy   policyCopy
}

// maxKept bounds what is kept of one ConfigMap, in bytes: each of its policies
// is kept with all of its file.
const maxKept = 16 << 20

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
	slices.SortStableFunc(list.Items, func(a, b appsv1.ControllerRevision) int { // the newest last
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	for _, r := range list.Items {
		var c policyCopy
		if err := utiljson.Unmarshal(r.Data.Raw, &c); err != nil || c.Policy == "" {
			s.Log.Warn("a kept revision cannot be read", "name", r.Name)
			continue
		}
		if old, ok := s.kept[c.Policy]; ok { // a replacement was interrupted
			s.remove(ctx, old.name)
		}
		k := kept{name: r.Name, number: r.Revision, copy: c}
		if len(r.OwnerReferences) > 0 {
			k.owner = r.OwnerReferences[0].UID
		}
		s.kept[c.Policy] = k
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
		u := &source.Unit{Document: doc, File: load.Source{Path: c.File, Text: []byte(c.Text)}, Overrides: c.Overrides, Mode: v1alpha1.ModeEnforce}
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

// keep stores the policies that were found good and run, and forgets those that
// are no longer there. That it fails does no harm: it is told, and tried again
// later.
func (s *revisionStore) keep(ctx context.Context, c *source.Catalog, verdicts map[string]*verdict, runs func(id string) (revision string)) (failed bool) {
	for _, id := range sortedKeys(verdicts) {
		v := verdicts[id]
		if !v.good() || v.plan.Mode != plan.Enforce || runs(id) != v.unit.Revision() || s.kept[id].of(v.unit, c.Origins[id]) {
			continue
		}
		if err := s.replace(ctx, id, v.unit, c.Origins[id]); err != nil && ctx.Err() == nil {
			failed = true
			s.Log.Error("the revision cannot be kept for a restart", observe.LogPolicy, id, "error", err.Error())
		}
	}
	for id, k := range s.kept {
		if c.Units[id] == nil && !c.Unreadable(k.copy.File) {
			s.remove(ctx, k.name)
			delete(s.kept, id)
		}
	}
	return failed
}

// of says whether a copy is of a policy as it is and where it is.
func (k kept) of(u *source.Unit, origin *source.Contents) bool {
	return k.copy.Revision == u.Revision() && k.copy.File == u.File.Path && k.owner == types.UID(origin.UID)
}

// name tells copies apart that differ in what cannot be changed once they are
// made.
func (c *policyCopy) name(origin *source.Contents) string {
	where := sha256.Sum256([]byte(c.File + " " + origin.UID))
	return fmt.Sprintf("edict-%s-%s-%s", c.Policy, c.Revision, hex.EncodeToString(where[:])[:8])
}

// room says whether a copy may be kept beside those of the same ConfigMap.
func (s *revisionStore) room(c *policyCopy, owner types.UID) error {
	size := c.size()
	for id, k := range s.kept {
		if id != c.Policy && k.owner == owner {
			size += k.copy.size()
		}
	}
	if size > maxKept {
		return fmt.Errorf("more than %d MiB would be kept of the ConfigMap: put its policies into files of their own", maxKept>>20)
	}
	return nil
}

func (c *policyCopy) size() int {
	n := len(c.Text)
	for _, text := range c.Modules {
		n += len(text)
	}
	return n
}

func (s *revisionStore) replace(ctx context.Context, id string, u *source.Unit, origin *source.Contents) error {
	c := copyOf(u)
	owner := types.UID(origin.UID)
	if err := s.room(&c, owner); err != nil {
		return err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	old, had := s.kept[id]
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.name(origin), Namespace: origin.Namespace,
			Labels:          map[string]string{v1alpha1.LabelRevision: id},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: origin.Name, UID: owner}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: old.number + 1,
	}
	_, err = s.client.AppsV1().ControllerRevisions(origin.Namespace).Create(ctx, made, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.kept[id] = kept{name: made.Name, number: made.Revision, owner: owner, copy: c}
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
