package brake

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

// stored reports whether the API server may have made one value of the other: it writes
// quantities and times in its own way, and adds fields to the items of lists. Writing the
// value again is then no sign that somebody has changed it back.
func stored(was, now value.Value) bool {
	switch now := now.(type) {
	case *value.Map:
		before, ok := was.(*value.Map)
		return ok && storedFields(before, now)
	case *value.List:
		before, ok := was.(*value.List)
		return ok && slices.EqualFunc(before.Items(), now.Items(), stored)
	}
	if was == nil || now == nil {
		return was == nil && now == nil
	}
	return hashOf(was) == hashOf(now) || storedText(plain(was), plain(now))
}

func storedFields(was, now *value.Map) bool {
	for i := range now.Len() {
		key, v := now.At(i)
		if !stored(was.Lookup(key), v) {
			return false
		}
	}
	return true
}

func plain(v value.Value) string { return fmt.Sprint(value.Plain(v)) }

// storedText compares texts as times, which may have lost a part of a second, or as
// quantities.
func storedText(was, now string) bool {
	x, errX := time.Parse(time.RFC3339Nano, was)
	y, errY := time.Parse(time.RFC3339Nano, now)
	if errX == nil && errY == nil {
		return x.Equal(y) || x.Equal(y.Truncate(time.Second)) || x.Equal(y.Truncate(time.Microsecond))
	}
	p, errP := value.ParseQuantity(was)
	q, errQ := value.ParseQuantity(now)
	return errP == nil && errQ == nil && p.Cmp(q) == 0
}
