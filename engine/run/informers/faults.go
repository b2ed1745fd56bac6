package informers

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/world"
)

// brokenFor is how long a watch has to fail before that is reported.
const brokenFor = 5 * time.Second

// watchFault is a watch that cannot be opened: the objects in the read model are as
// they were when it broke.
type watchFault struct {
	source world.Source
	since  time.Time
	err    string
}

// faults are the watches that cannot be opened, by their ID.
type faults struct {
	mu   sync.Mutex
	byID map[string]*watchFault
}

// add stores that a watch cannot be opened.
func (f *faults) add(id string, source world.Source, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.byID[id]
	if fault == nil {
		fault = &watchFault{source: source, since: now}
		if f.byID == nil {
			f.byID = map[string]*watchFault{}
		}
		f.byID[id] = fault
	}
	fault.err = err.Error()
	observe.BrokenWatches.Set(float64(len(f.byID)))
}

// remove stores that a watch works, or has ended.
func (f *faults) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, id)
	observe.BrokenWatches.Set(float64(len(f.byID)))
}

// any reports whether one of some watches cannot be opened.
func (f *faults) any(ids []string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(ids, func(id string) bool { return f.byID[id] != nil })
}

// texts returns which of some watches cannot be opened, and why.
func (f *faults) texts(ids []string, now time.Time) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		fault := f.byID[id]
		if fault == nil || now.Sub(fault.since) < brokenFor {
			continue
		}
		where := ""
		if fault.source.Namespace != "" {
			where = " in the namespace " + fault.source.Namespace
		}
		out = append(out, fmt.Sprintf("what is known of %s%s is of %s: it cannot be watched: %s", fault.source.GVK, where, fault.since.UTC().Format(time.RFC3339), fault.err))
	}
	return out
}

// watchID identifies a watch by its URL.
func watchID(u *url.URL) string {
	q := u.Query()
	return strings.Join([]string{u.Path, q.Get("labelSelector"), q.Get("fieldSelector")}, "?")
}

// sourceID returns the watchID of a source.
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
