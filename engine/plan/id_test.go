package plan

import "testing"

// TestID: a policy is known by its set and its name; in the shadow of another set it has the marks
// of the policy there.
func TestID(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy    Policy
		id, owner string
	}{
		"of a file":             {Policy{Name: "p"}, "p", "p"},
		"of a set":              {Policy{Set: "s", Name: "p"}, "s/p", "s/p"},
		"in the shadow":         {Policy{Set: "s", ShadowOf: "t", Name: "p", Mode: Shadow}, "s/p", "t/p"},
		"in Shadow mode, alone": {Policy{Set: "s", Name: "p", Mode: Shadow}, "s/p", "s/p"},
		"of a document's kind":  {Policy{Set: "s", Name: "p-pod", Of: "p"}, "s/p-pod", "s/p-pod"},
	} {
		p := tc.policy
		if p.ID() != tc.id || p.Owner() != tc.owner {
			t.Errorf("%s: %s, marked as %s", name, p.ID(), p.Owner())
		}
		if !p.Named(p.Name) || !p.Named(p.Written()) || !p.Named(tc.id) || p.Named("other") || p.Named("other/"+p.Name) {
			t.Errorf("%s: it is not named as it should be", name)
		}
	}
}

// TestMarks: a policy has its own marks, and those that all have.
func TestMarks(t *testing.T) {
	t.Parallel()
	p, other := &Policy{MarkKeys: MarkKeys("s/p", []string{"r"})}, MarkKeys("t/p", []string{"r"})
	if len(p.MarkKeys) != 4 {
		t.Errorf("it has the marks %v", p.MarkKeys)
	}
	for _, key := range p.MarkKeys {
		if !p.Marks(key) || (*Policy)(nil).Marks(key) || !Reserved(key) {
			t.Errorf("%s is no mark of it", key)
		}
	}
	for _, key := range other {
		if p.Marks(key) {
			t.Errorf("%s is a mark of another policy", key)
		}
	}
	for _, key := range []string{"edict.dev/policy", "edict.dev/policyset"} {
		if !p.Marks(key) || !(*Policy)(nil).Marks(key) {
			t.Errorf("%s is no mark", key)
		}
	}
}
