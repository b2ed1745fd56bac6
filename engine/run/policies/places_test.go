package policies

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// aged makes a ConfigMap that is some minutes old, with a file in p.yaml; "" is none.
func aged(minutes int, name, mode, text string) *source.ConfigMap {
	m := fixture.ConfigMap(name, mode, nil)
	if m.Created = m.Created.Add(-time.Duration(minutes) * time.Minute); text != "" {
		m.Data = map[string]string{"p.yaml": text}
	}
	return m
}

// TestNothingIsTakenOver: while the file of what runs cannot be told, no other ConfigMap
// takes the policy over, whatever comes first, and also in a process that finds what runs
// in the history. What can be told hands over.
func TestNothingIsTakenOver(t *testing.T) {
	t.Parallel()
	a, b, unreadable := fixture.Policy("p", "a"), fixture.Policy("p", "b"), "foo: [bar"
	first := func(mode, text string) *source.ConfigMap { return aged(2, "m", mode, text) }
	second := func(text string) *source.ConfigMap { return aged(1, "other", "", text) }
	off := aged(1, "other", "Disabled", b)
	for name, tc := range map[string]struct {
		edits [][]*source.ConfigMap
		want  string // the text that runs in the end
	}{
		"the other one was there":         {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", unreadable), second(b)}}, a},
		"the other one comes":             {[][]*source.ConfigMap{{first("", a)}, {first("", unreadable)}, {first("", unreadable), second(b)}}, a},
		"the other one is disabled":       {[][]*source.ConfigMap{{first("", a), off}, {first("", unreadable), off}}, a},
		"it is mended":                    {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", unreadable), second(b)}, {first("", b), second(a)}}, b},
		"it is stopped meanwhile":         {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", unreadable), second(b)}, {first("Disabled", unreadable), second(b)}}, ""},
		"its text disables it":            {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", a+"  mode: Disabled\n"), second(b)}, {first("", unreadable), second(b)}}, ""},
		"its file goes":                   {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", unreadable), second(b)}, {first("", ""), second(b)}}, b},
		"its ConfigMap goes":              {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", unreadable), second(b)}, {second(b)}}, b},
		"it moves":                        {[][]*source.ConfigMap{{first("", a), second(b)}, {first("", fixture.Policy("q", "a")), second(b)}}, b},
		"it has moved, and is unreadable": {[][]*source.ConfigMap{{first("", a)}, {second(a)}, {second(unreadable)}}, a},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newManaged(t)
			var got map[string]string
			for _, maps := range tc.edits {
				got = s.see(nil, maps...)
			}
			check := func(when string) {
				t.Helper()
				want := ""
				if tc.want != "" {
					want = aged(0, "m", "", tc.want).Read().Units[0].Revision()
				}
				if got["p"] != want {
					t.Errorf("%s %v runs, want %q", when, got, want)
				}
			}
			check("")
			kept := s.history.entries
			s = newManaged(t)
			s.history.entries = kept
			got = s.see(nil, tc.edits[len(tc.edits)-1]...)
			check("after a restart")
		})
	}
}

// TestUnreadableAfterAMove: a policy goes on whose text was refused in another file, which
// then cannot be read: it is not looked for in the file of what runs.
func TestUnreadableAfterAMove(t *testing.T) {
	t.Parallel()
	s := newManaged(t)
	first := aged(2, "m", "", fixture.Policy("p", "a"))
	want := s.see(nil, first)["p"]
	for _, text := range []string{fixture.Policy("p", brokenText), "foo: [bar"} {
		if got := s.see(nil, aged(2, "m", "", ""), aged(1, "other", "", text)); got["p"] != want {
			t.Errorf("%v runs, not %s", got, want)
		}
	}
	r := newHistorian(t)
	r.see(first, lifecycle.Activated, "")
	refused := aged(1, "other", "", fixture.Policy("p", brokenText))
	r.see(refused, "", "")
	if got := r.store.place("p", nil); got != refused.Path()+"/p.yaml" {
		t.Errorf("the next process looks for it in %s", got)
	}
}

// TestUnknownModeHandsNothingOver: a policy that the annotation enforces has no mode of
// its own while the annotation is not right.
func TestUnknownModeHandsNothingOver(t *testing.T) {
	t.Parallel()
	text := fixture.Policy("p", "a") + "  mode: Shadow\n"
	other := aged(1, "other", "", fixture.Policy("p", "b"))
	s := newManaged(t)
	s.assigner.annotations = func(*source.ConfigMap) (map[string]string, string) {
		return map[string]string{"edict.dev/policies": "p=1"}, ""
	}
	want := s.see(nil, aged(2, "m", "Enforce", text), other)["p"]
	if got := s.see(nil, aged(2, "m", "Enfroce", text), other); want == "" || got["p"] != want {
		t.Errorf("%v runs, not %s", got, want)
	}
	kept, annotations := s.history.entries, s.assigner.annotations
	s = newManaged(t)
	s.history.entries, s.assigner.annotations = kept, annotations
	if got := s.see(nil, aged(2, "m", "Enfroce", text), other); got["p"] != want {
		t.Errorf("after a restart %v runs, not %s", got, want)
	}
}
