package configmap

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// Differing is a policy of which another revision is in force than the one in its
// ConfigMap: that one waits, was refused, cannot be read, comes into force in steps, or was
// not looked at yet.
type Differing struct {
	// Policy is its name, Revision the one in force.
	Policy, Revision string
	// ConfigMap is its namespace and name.
	ConfigMap string
	// Kept reports whether the history has the revision in force.
	Kept bool
}

// ReadInForce is Read, but of policies of which another revision is in force it takes that
// one, if the history has it. These policies are listed.
func ReadInForce(ctx context.Context, client kubernetes.Interface, namespace string, typed compile.Overrides) (*source.Catalog, []Differing, error) {
	policies, params, err := lists(ctx, client.CoreV1().ConfigMaps(namespace))
	if err != nil {
		return nil, nil, err
	}
	c := newCatalog(policies, params, &Cache{}, typed)
	differing := differ(newCatalog(policies, params, &Cache{}, nil), policies)
	if len(differing) == 0 {
		return c, nil, nil // nobody has to be allowed to read the history
	}
	revisions, err := client.AppsV1().ControllerRevisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil {
		first := differing[0]
		return nil, nil, fmt.Errorf("of the policy %s the revision %s is in force, which is not the text in the ConfigMap %s, and the history that has it cannot be read: %w", first.Policy, first.Revision, first.ConfigMap, err)
	}
	kept := history.List(revisions.Items, func(string, error) {}) // such a one counts as not kept
	for i := range differing {
		differing[i].replace(c, kept[differing[i].Policy], typed)
	}
	return c, differing, nil
}

// differ compares a catalog with the revisions in force by the annotations of the
// ConfigMaps. What runs in Shadow mode is not in the history.
func differ(c *source.Catalog, policies []*corev1.ConfigMap) (out []Differing) {
	for _, m := range policies {
		running := maps.Collect(v1alpha1.Running(m.Annotations))
		for _, id := range slices.Sorted(maps.Keys(running)) {
			if revision := running[id]; revision != "" && !plan.ParseID(id).Shadow && !presentIs(c, m, id, revision) {
				out = append(out, Differing{Policy: id, Revision: revision, ConfigMap: m.Namespace + "/" + m.Name})
			}
		}
	}
	return out
}

// presentIs reports whether the present text of a policy is a revision, or ends it.
func presentIs(c *source.Catalog, m *corev1.ConfigMap, id, revision string) bool {
	if u := c.Units[id]; u != nil {
		return u.Disabled() || u.Revision() == revision
	}
	// What is missing may be in what cannot be read.
	unreadable := func(key string) bool { return c.Unreadable(m.Namespace + "/" + m.Name + "/" + key) }
	return !slices.ContainsFunc(slices.Collect(maps.Keys(m.Data)), unreadable)
}

// replace takes the revision in force into a catalog.
func (d *Differing) replace(c *source.Catalog, kept []*history.Entry, typed compile.Overrides) {
	at := slices.IndexFunc(kept, func(e *history.Entry) bool { return e.Revision == d.Revision })
	if at < 0 {
		return
	}
	u := kept[at].Unit()
	if u == nil {
		return
	}
	u.Overrides = maps.Clone(u.Overrides)
	for name, value := range typed.For(u.Name(), u.Document.Of) {
		if u.Overrides == nil {
			u.Overrides = map[string]compile.Override{}
		}
		u.Overrides[name] = value
	}
	d.Kept, c.Units[d.Policy], c.Origins[d.Policy] = true, u, c.ContentsOf(u.File.Path)
}
