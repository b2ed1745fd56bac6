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
func (c Condition) Set(list *value.List, now time.Time) (*value.List, bool) {
	items := itemsOf(list)
	at := find(items, c.Type)
	if at < 0 {
		return value.NewList(append(items, c.value(value.OfTime(now)))), true
	}
	was, _ := items[at].(*value.Map)
	if was != nil && c.same(was) {
		return list, false
	}
	since := value.OfTime(now)
	if kept := was.Lookup("lastTransitionTime"); kept != nil && value.StringAt(was, "status") == c.Status {
		since = kept
	}
	items[at] = c.value(since)
	return value.NewList(items), true
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
