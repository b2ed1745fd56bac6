package informers

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

// brokenFor is how long a watch has to fail before that is reported.
const brokenFor = 5 * time.Second

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
func (s *Set) urlOf(source world.Source) string {
	if have := s.informers[source]; have != nil && have.id != "" {
		return have.id
	}
	mapping, err := s.options.Kinds.Mapping(source.GVK)
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

// noteFault stores that a watch cannot be opened.
func (s *Set) noteFault(source world.Source, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.urlOf(source)
	if s.informers[source] == nil || id == "" {
		return // nobody reads it any more
	}
	fault := s.failing[id]
	if fault == nil {
		fault = &watchFault{source: source, since: now}
		s.failing[id] = fault
	}
	fault.err = err.Error()
	observe.BrokenWatches.Set(float64(len(s.failing)))
}

// Opened stores that a watch works.
func (s *Set) Opened(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failing, id)
	observe.BrokenWatches.Set(float64(len(s.failing)))
}

// Problems returns which of the objects that a policy reads are not up to date, and
// why; "" is none.
func (s *Set) Problems(c *reconcile.Controller, now time.Time) string {
	sources := c.Sources()
	return strings.Join(append(s.faults(sources, now), s.staleReasons(sources)...), "\n")
}

// faults says which watches cannot be opened.
func (s *Set) faults(sources []world.Source, now time.Time) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, source := range sources {
		fault := s.failing[s.urlOf(source)]
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
