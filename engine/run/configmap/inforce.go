package configmap

import (
	"context"
	"fmt"
	"maps"
	"path"
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
// ConfigMap, or none: that one waits, was refused, cannot be read, comes into force in
// steps, or was not looked at yet.
type Differing struct {
	// Policy is its name, Revision the one in force; "" is that nothing of it runs.
	Policy, Revision string
	// ConfigMap is its namespace and name.
	ConfigMap string
	// Kept reports whether the history has the revision in force.
	Kept bool
}

// ReadInForce is Read, but of policies of which another revision is in force it takes that
// one, if the history has it. These policies are listed, and those of which nothing runs,
// of which it takes the text.
func ReadInForce(ctx context.Context, client kubernetes.Interface, namespace string, typed compile.Overrides) (*source.Catalog, []Differing, error) {
	policies, params, err := lists(ctx, client.CoreV1().ConfigMaps(namespace))
	if err != nil {
		return nil, nil, err
	}
	return inForce(ctx, client, namespace, policies, params, typed)
}

// ReadJudged is ReadInForce once the controller has read all ConfigMaps as they are, and
// Read before: whoever has just edited one sees the edit, unless it was refused.
func ReadJudged(ctx context.Context, client kubernetes.Interface, namespace string, typed compile.Overrides) (*source.Catalog, []Differing, error) {
	policies, params, err := lists(ctx, client.CoreV1().ConfigMaps(namespace))
	if err != nil {
		return nil, nil, err
	}
	if c := newCatalog(policies, params, &Cache{}, typed); !allRead(c, policies, params) {
		return c, nil, nil
	}
	return inForce(ctx, client, namespace, policies, params, typed)
}

// allRead reports whether the controller has read all ConfigMaps as they are.
func allRead(c *source.Catalog, policies, params []*corev1.ConfigMap) bool {
	unread := func(m *corev1.ConfigMap) bool { return !Observed(m, c) }
	return !slices.ContainsFunc(params, unread) && !slices.ContainsFunc(policies, unread)
}

func inForce(ctx context.Context, client kubernetes.Interface, namespace string, policies, params []*corev1.ConfigMap, typed compile.Overrides) (*source.Catalog, []Differing, error) {
	c := newCatalog(policies, params, &Cache{}, typed)
	present := newCatalog(policies, params, &Cache{}, nil)
	differing, idle := differ(present, policies), stopped(present, policies)
	if len(differing) == 0 {
		return c, idle, nil // nobody has to be allowed to read the history
	}
	revisions, err := client.AppsV1().ControllerRevisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil {
		first := differing[0]
		return nil, nil, fmt.Errorf("of the policy %s the revision %s is in force, which is not the text in the ConfigMap %s, and the history that has it cannot be read: %w; to look at the text, give it as a file, with --policies (edict plan: also --against)", first.Policy, first.Revision, first.ConfigMap, err)
	}
	kept := history.List(revisions.Items, func(string, error) {}) // such a one counts as not kept
	for i := range differing {
		differing[i].replace(c, kept[differing[i].Policy], typed)
	}
	return c, append(differing, idle...), nil
}

// stopped returns the policies of which nothing runs, by the annotations of the ConfigMaps.
// Where the controller has reported nothing yet, or more runs than could be noted, that is
// not known.
func stopped(c *source.Catalog, policies []*corev1.ConfigMap) (out []Differing) {
	running, reported := map[string]bool{}, map[string]bool{}
	for _, m := range policies {
		reported[m.Name] = m.Annotations[v1alpha1.AnnotationStatus] != ""
		for id := range v1alpha1.Running(m.Annotations) {
			running[id] = true
		}
	}
	if running[v1alpha1.MoreRunning] {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(c.Units)) {
		in := c.Origins[id]
		if reported[in.Name] && !running[id] && !c.Units[id].Disabled() {
			out = append(out, Differing{Policy: id, ConfigMap: in.Path()})
		}
	}
	return out
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
	// The revision may have been kept when the policy was in another ConfigMap.
	origin := c.ContentsOf(d.ConfigMap + "/" + path.Base(u.File.Path))
	d.Kept, c.Units[d.Policy], c.Origins[d.Policy] = true, u, origin
}
