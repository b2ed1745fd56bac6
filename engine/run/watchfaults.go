package run

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/world"
)

// watchFault is a watch that cannot be opened: what is known of its objects is
// as it was when it broke.
type watchFault struct {
	source world.Source
	since  time.Time
	err    string
}

// watchID tells watches apart, by their URL.
func watchID(u *url.URL) string {
	q := u.Query()
	return strings.Join([]string{u.Path, q.Get("labelSelector"), q.Get("fieldSelector")}, "?")
}

// urlOf is the watchID of a source; "" if the cluster no longer serves its kind
// and it was never watched.
func (f *feeds) urlOf(source world.Source) string {
	if have := f.informers[source]; have != nil && have.id != "" {
		return have.id
	}
	gvk := groupVersionKind(source.GVK)
	mapping, err := f.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return ""
	}
	return sourceID(source, mapping.Resource)
}

func sourceID(source world.Source, r schema.GroupVersionResource) string {
	parts := []string{"/apis", r.Group, r.Version}
	if r.Group == "" {
		parts = []string{"/api", r.Version}
	}
	if source.Namespace != "" {
		parts = append(parts, "namespaces", source.Namespace)
	}
	field, selector := "", source.Selector
	if parsed, err := labels.Parse(selector); err == nil {
		selector = parsed.String()
	}
	if source.Name != "" {
		field = "metadata.name=" + source.Name
	}
	return strings.Join([]string{path.Join(append(parts, r.Resource)...), selector, field}, "?")
}

// fault notes that a watch cannot be opened.
func (f *feeds) fault(source world.Source, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.urlOf(source)
	if f.informers[source] == nil || id == "" {
		return // nobody reads it any more
	}
	fault := f.failing[id]
	if fault == nil {
		fault = &watchFault{source: source, since: now}
		f.failing[id] = fault
	}
	fault.err = err.Error()
	observe.BrokenWatches.Set(float64(len(f.failing)))
}

// opened notes that a watch is open.
func (f *feeds) opened(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.failing, id)
	observe.BrokenWatches.Set(float64(len(f.failing)))
}

// broken says which of the objects that a policy reads are not up to date; "" is
// none.
func (f *feeds) broken(c *reconcile.Controller, now time.Time) string {
	sources := c.Sources()
	return strings.Join(append(f.faults(sources, now), f.doubts(sources)...), "\n")
}

// faults says which watches cannot be opened.
func (f *feeds) faults(sources []world.Source, now time.Time) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, source := range sources {
		fault := f.failing[f.urlOf(source)]
		if fault == nil || now.Sub(fault.since) < brokenFor {
			continue
		}
		where := ""
		if source.Namespace != "" {
			where = " in the namespace " + source.Namespace
		}
		out = append(out, fmt.Sprintf("what is known of %s%s is of %s: it cannot be watched: %s", source.GVK, where, fault.since.UTC().Format(time.RFC3339), fault.err))
	}
	return out
}
