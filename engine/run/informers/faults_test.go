package informers

import (
	"errors"
	"net/url"
	"testing"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// TestWatchIDs: a watch that the server serves is found again as the source that
// it is of.
func TestWatchIDs(t *testing.T) {
	t.Parallel()
	for link, source := range map[string]world.Source{
		"https://x/api/v1/nodes?watch=true":                                                                    {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}},
		"https://x/api/v1/nodes?watch=true&labelSelector=a%3Db%2Cc&resourceVersion=7":                          {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}, Selector: "c,a=b"},
		"https://x/api/v1/namespaces/n/nodes?watch=true&fieldSelector=metadata.name%3Dm&allowWatchBookmarks=1": {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}, Namespace: "n", Name: "m"},
	} {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		s := New(t.Context(), t.Context(), Options{Kinds: fixture.Kinds(), Log: fixture.Log(), Count: func(plan.Happening) {}})
		s.informers[source] = &informer{}
		s.watchFailed(source, errors.New("no"))
		if len(s.faults.byID) != 1 {
			t.Errorf("%s: nothing is noted", link)
		}
		if s.Opened(watchID(u)); len(s.faults.byID) != 0 {
			t.Errorf("%s: still failing %v", link, s.faults.byID)
		}
	}
}
