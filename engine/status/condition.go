package status

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

// Sizes that the API server takes, in bytes.
const (
	MaxConditionMessage = 32768
	MaxEventMessage     = 1024
	MaxReason           = 1024
)

// Condition is a metav1.Condition as a policy wants it.
type Condition struct {
	Type, Status, Reason, Message string
	// ObservedGeneration is left out when it is 0.
	ObservedGeneration int64
	// Track makes a difference of ObservedGeneration alone a change.
	Track bool
}

// Set puts a condition into an object's list of conditions and reports whether
// that changes it. The list is not touched; a changed one is new. All other
// conditions are kept as they are.
//
// The list may have been changed since it was stored: the time of the last transition is
// that of the stored condition of the type if its status is the same. A condition that is as
// it is stored gets back its place.
func (c Condition) Set(list, stored *value.List, now time.Time) (*value.List, bool) {
	items, was := itemsOf(list), entryOf(stored, c.Type)
	next, at := c.next(was, now), find(items, c.Type)
	if at < 0 {
		at = len(items)
		if before := find(itemsOf(stored), c.Type); before >= 0 {
			at = min(at, before)
		}
		return value.NewList(slices.Insert(items, at, next)), true
	}
	if value.Same(items[at], next) {
		return list, false
	}
	items[at] = next
	return value.NewList(items), true
}

// next returns the condition as it is to be stored, when was is stored; was may be nil.
func (c Condition) next(was *value.Map, now time.Time) value.Value {
	if was != nil && c.same(was) {
		return was
	}
	since := value.OfTime(now)
	if kept := was.Lookup("lastTransitionTime"); kept != nil && value.StringAt(was, "status") == c.Status {
		since = kept
	}
	return c.value(since)
}

// entryOf returns the condition of a type, or nil.
func entryOf(list *value.List, kind string) *value.Map {
	items := itemsOf(list)
	at := find(items, kind)
	if at < 0 {
		return nil
	}
	entry, _ := items[at].(*value.Map)
	return entry
}

// Remove takes a condition out of a list and reports whether it was there.
func Remove(list *value.List, kind string) (*value.List, bool) {
	items := itemsOf(list)
	at := find(items, kind)
	if at < 0 {
		return list, false
	}
	return value.NewList(slices.Delete(items, at, at+1)), true
}

func itemsOf(list *value.List) []value.Value {
	if list == nil {
		return nil
	}
	return slices.Clone(list.Items())
}

func find(items []value.Value, kind string) int {
	return slices.IndexFunc(items, func(c value.Value) bool { return value.StringAt(c, "type") == kind })
}

// The fields of a condition without and with observedGeneration.
var (
	names         = value.NamesOf("type", "status", "reason", "message", "lastTransitionTime")
	namesObserved = value.NamesOf("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration")
)

func (c Condition) value(since value.Value) value.Value {
	kind, status, reason := value.OfString(c.Type), value.OfString(c.Status), value.OfString(c.Reason)
	message := value.OfString(value.Cut(c.Message, MaxConditionMessage))
	if c.ObservedGeneration > 0 {
		return namesObserved.Map(kind, status, reason, message, since, value.OfInt(c.ObservedGeneration))
	}
	return names.Map(kind, status, reason, message, since)
}

func (c Condition) same(was *value.Map) bool {
	generation, _ := value.Int(was.Lookup("observedGeneration"))
	return value.StringAt(was, "status") == c.Status && value.StringAt(was, "reason") == c.Reason &&
		value.StringAt(was, "message") == value.Cut(c.Message, MaxConditionMessage) &&
		(!c.Track || generation == c.ObservedGeneration)
}
