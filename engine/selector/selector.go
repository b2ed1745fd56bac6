// Package selector makes Kubernetes label selectors of values: a LabelSelector
// object, or the text form that kubectl takes. It wraps apimachinery, so that
// what a selector means and how it complains is the API server's own word.
package selector

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/edict-dev/edict/engine/value"
)

// Selector is a parsed label selector. It is immutable.
type Selector struct {
	selector     labels.Selector
	requirements labels.Requirements
	selectable   bool
}

// Everything matches every object.
var Everything = newSelector(labels.Everything())

func newSelector(s labels.Selector) *Selector {
	requirements, selectable := s.Requirements()
	return &Selector{selector: s, requirements: requirements, selectable: selectable}
}

// Nothing matches no object.
var Nothing = newSelector(labels.Nothing())

// Parse makes a selector of a value: absent, null or none match nothing, as in the API, a
// string is parsed as kubectl does, an object is a LabelSelector. One without requirements
// matches everything.
func Parse(v value.Value) (*Selector, error) {
	v = value.Unwrap(v)
	if value.IsNull(v) {
		return Nothing, nil
	}
	if text, ok := value.Str(v); ok {
		s, err := labels.Parse(text)
		if err != nil {
			return nil, Brief(err)
		}
		if s.Empty() {
			return Everything, nil
		}
		return newSelector(s), nil
	}
	object, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("a label selector is an object or a string, not %s", v.Type().TypeName())
	}
	return parsed(object)
}

// cache keeps the selectors of objects that many evaluations share. Values
// are immutable, so identity is enough; past its bound it starts anew.
var (
	cache     atomic.Pointer[sync.Map]
	cacheSize atomic.Int64
)

const maxCached = 4096

type outcome struct {
	selector *Selector
	err      error
}

func parsed(object *value.Map) (*Selector, error) {
	kept := cache.Load()
	if kept == nil || cacheSize.Load() > maxCached {
		kept = &sync.Map{}
		cache.Store(kept)
		cacheSize.Store(0)
	}
	if o, ok := kept.Load(object); ok {
		return o.(outcome).selector, o.(outcome).err
	}
	s, err := convert(object)
	kept.Store(object, outcome{s, err})
	cacheSize.Add(1)
	return s, err
}

// maxKey is how much of a key an error repeats, in bytes.
const maxKey = 64

func convert(object *value.Map) (*Selector, error) {
	var typed metav1.LabelSelector
	plain, _ := value.Plain(object).(map[string]any)
	for i := range object.Len() {
		if key, _ := object.At(i); key != "matchLabels" && key != "matchExpressions" {
			return nil, fmt.Errorf("unknown field %q: labels are written as \"app=web\", or {matchLabels: {app: web}}", value.Cut(key, maxKey))
		}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(plain, &typed, true); err != nil {
		return nil, err
	}
	return Of(&typed)
}

// Of returns the selector of a LabelSelector.
func Of(of *metav1.LabelSelector) (*Selector, error) {
	s, err := metav1.LabelSelectorAsSelector(of)
	if err != nil {
		return nil, Brief(err)
	}
	return newSelector(s), nil
}

// Labels are an object's labels as a selector reads them.
type labelSet struct{ m *value.Map }

// Has implements labels.Labels.
func (s labelSet) Has(key string) bool { return s.m.Lookup(key) != nil }

// Get implements labels.Labels.
func (s labelSet) Get(key string) string {
	text, _ := value.Str(s.m.Lookup(key))
	return text
}

// Lookup implements labels.Labels.
func (s labelSet) Lookup(key string) (string, bool) {
	return value.Str(s.m.Lookup(key))
}

// Matches reports whether labels (an object, or nothing) satisfy the selector.
func (s *Selector) Matches(labels value.Value) bool {
	m, ok := value.Unwrap(labels).(*value.Map)
	if !ok {
		m = value.Empty
	}
	if !s.selectable {
		return false
	}
	set := labelSet{m}
	for i := range s.requirements {
		if !s.requirements[i].Matches(set) {
			return false
		}
	}
	return true
}

// MatchesLabelsOf reports whether the labels of an object, a Kubernetes manifest, satisfy
// the selector.
func (s *Selector) MatchesLabelsOf(object *value.Map) bool {
	return s == Everything || s.Matches(value.Path(object, "metadata", "labels"))
}

// String returns the text form of the selector.
func (s *Selector) String() string { return s.selector.String() }

// Split returns the part of the selector that is about one label, and that about all
// others: it matches what both match.
func (s *Selector) Split(key string) (about, others *Selector) {
	if !s.selectable {
		return Everything, s
	}
	one, rest := labels.NewSelector(), labels.NewSelector()
	for _, r := range s.requirements {
		if r.Key() == key {
			one = one.Add(r)
		} else {
			rest = rest.Add(r)
		}
	}
	return newSelector(one), newSelector(rest)
}

// maxErrors is how many errors are shown of those of one selector.
const maxErrors = 5

// Brief returns an error with the first few of those that it is made of. The API
// machinery finds an error for every value of a requirement, and takes time with
// the square of their number to write them.
func Brief(err error) error {
	list, ok := errors.AsType[utilerrors.Aggregate](err)
	if !ok || len(list.Errors()) <= maxErrors {
		return err
	}
	all := list.Errors()
	more := fmt.Errorf("and %d more", len(all)-maxErrors)
	return utilerrors.NewAggregate(append(slices.Clone(all[:maxErrors]), more))
}

// Excludes reports whether no labels match both selectors, as far as their
// requirements of one label each tell.
func (s *Selector) Excludes(other *Selector) bool {
	for _, a := range s.requirements {
		for _, b := range other.requirements {
			if a.Key() == b.Key() && (excludes(a, b) || excludes(b, a)) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether no value meets two requirements, the first of which lists
// its values or wants the label to exist.
func excludes(a, b labels.Requirement) bool {
	if b.Operator() == selection.DoesNotExist {
		return a.Operator() != selection.DoesNotExist && a.Operator() != selection.NotIn && a.Operator() != selection.NotEquals
	}
	switch a.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		for value := range a.Values() {
			if b.Matches(labels.Set{b.Key(): value}) {
				return false
			}
		}
		return true
	}
	return false
}

// Example returns labels that satisfy the selector, if there are some that do: its
// requirements are taken one by one.
func (s *Selector) Example() map[string]string {
	out := map[string]string{}
	for i := range s.requirements {
		r := &s.requirements[i]
		values := r.Values().List()
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			out[r.Key()] = slices.Min(values)
		case selection.Exists:
			if _, set := out[r.Key()]; !set {
				out[r.Key()] = ""
			}
		case selection.GreaterThan, selection.LessThan:
			n, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				continue
			}
			if r.Operator() == selection.GreaterThan {
				n += 2
			}
			out[r.Key()] = strconv.FormatInt(n-1, 10)
		case selection.NotIn, selection.NotEquals, selection.DoesNotExist:
			// without the label
		}
	}
	return out
}
