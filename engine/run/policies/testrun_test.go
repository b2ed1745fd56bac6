package policies

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

const marked = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: marks}
spec:
  cases:
    - name: a node is marked
      objects: [{apiVersion: v1, kind: Node, metadata: {name: x}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: x, labels: {p: VALUE}}}]
`

// tested is a ConfigMap with a policy that marks with a value, and a test that
// wants one.
func tested(value, want string) *source.ConfigMap {
	return fixture.ConfigMap("m", "", map[string]string{"p.yaml": fixture.Policy("p", value), "p.test.yaml": strings.Replace(marked, "VALUE", want, 1)})
}

// TestTestRuns: until the tests of an edit have passed, what ran before goes on;
// nobody else waits for them, and those of an edit that is no more matter to
// nobody.
func TestTestRuns(t *testing.T) {
	t.Parallel()
	s := newManaged(t)
	tests := check.NewTestRunner(s.checker)
	var catalog *source.Catalog
	edit := func(m *source.ConfigMap) map[string]string {
		other := fixture.ConfigMap("other", "", map[string]string{"q.yaml": fixture.Policy("q", "a")})
		catalog = source.NewCatalog([]*source.Contents{m.Read(), other.Read()}, nil, nil)
		return s.see(nil, m, other)
	}
	var try func()
	next := func() bool {
		try = nil
		tests.Next(t.Context(), catalog, s.policies, func(f func()) { try = f })
		return try != nil
	}
	end := func() { try(); tests.Complete(<-tests.Ended(), s.policies) }

	if got := edit(tested("a", "a")); got["p"] != "" || got["q"] == "" {
		t.Errorf("before its tests %v runs", got)
	}
	if !next() {
		t.Fatal("no trial begins")
	}
	end()
	first := edit(tested("a", "a"))["p"]
	if first == "" || next() {
		t.Error("it does not run, or is tested again")
	}

	edit(tested("b", "a"))
	next()
	end()
	got := edit(tested("b", "a"))
	if p := s.policies.Get("p"); got["p"] != first || len(p.Newest.Problems) != 1 || (&Manager{policies: s.policies}).due(&p) {
		t.Errorf("the test fails, and %v runs: %v", got, s.policies.Get("p").Newest.Problems)
	}

	edit(tested("c", "c"))
	next()
	given := try
	edit(tested("d", "a"))
	if next() {
		t.Error("two trials at once")
	}
	try = given
	end()
	if got := edit(tested("d", "a")); got["p"] != first || !s.policies.Get("p").Newest.TestsPending {
		t.Errorf("the outcome of another text is taken: %v", got)
	}
	if !next() {
		t.Fatal("the last edit is not tested")
	}
	end()
	if s.policies.Get("p").Newest.Good() || len(s.policies.Get("p").Newest.Problems) != 1 {
		t.Errorf("%v", s.policies.Get("p").Newest.Problems)
	}
}
