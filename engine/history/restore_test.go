package history

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func policy(name, value string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  rules: [{name: r, do: [{labels: {set: {" + name + ": \"" + value + "\"}}}]}]\n"
}

func entry(result Result, text string, modules map[string]string) *Entry {
	return &Entry{Copy: Copy{Policy: "p", File: "ns/m/p.yaml", Text: text, Modules: modules}, Result: result}
}

// TestRestore: the policy is as it was, and others in the same key stay.
func TestRestore(t *testing.T) {
	t.Parallel()
	of := func(text string) *string { return &text }
	for name, tc := range map[string]struct {
		was, now string
		modules  map[string]string
		beside   map[string]string
		want     map[string]*string
		same     bool
	}{
		"alone":                        {was: policy("p", "a"), now: policy("p", "b"), want: map[string]*string{"p.yaml": of(policy("p", "a"))}},
		"with a remark":                {was: "# old\n" + policy("p", "a"), now: policy("p", "b"), want: map[string]*string{"p.yaml": of("# old\n" + policy("p", "a"))}},
		"the same":                     {was: policy("p", "a"), now: "# a remark\n" + policy("p", "a"), same: true},
		"renamed":                      {was: policy("p", "a"), now: policy("other", "a"), want: map[string]*string{"p.yaml": of(policy("p", "a"))}},
		"what cannot be read":          {was: policy("p", "a"), now: "]", want: map[string]*string{"p.yaml": of(policy("p", "a"))}},
		"nothing is left":              {was: policy("p", "a"), now: "", want: map[string]*string{"p.yaml": of(policy("p", "a"))}},
		"the first of two":             {was: policy("p", "a") + "---\n" + policy("q", "a"), now: policy("p", "b") + "---\n" + policy("q", "b"), want: map[string]*string{"p.yaml": of(policy("p", "a") + "---\n" + policy("q", "b"))}},
		"the second of two":            {was: policy("q", "a") + "---\n" + policy("p", "a"), now: policy("q", "b") + "--- # p\n" + policy("p", "b") + "---\n" + policy("r", "b"), want: map[string]*string{"p.yaml": of(policy("q", "b") + "--- # p\n" + policy("p", "a") + "---\n" + policy("r", "b"))}},
		"removed from among others":    {was: policy("p", "a") + "---\n" + policy("q", "a"), now: policy("q", "b"), want: map[string]*string{"p.yaml": of(policy("q", "b") + "---\n" + policy("p", "a"))}},
		"removed, and two others":      {was: policy("p", "a"), now: policy("q", "b") + "---\n" + policy("r", "b"), want: map[string]*string{"p.yaml": of(policy("q", "b") + "---\n" + policy("r", "b") + "---\n" + policy("p", "a"))}},
		"Rego changes back":            {was: policy("p", "a"), now: policy("p", "a"), modules: map[string]string{"ns/m/p.rego": "package a"}, beside: map[string]string{"p.rego": "package b"}, want: map[string]*string{"p.rego": of("package a")}},
		"Rego that was not there goes": {was: policy("p", "a"), now: policy("p", "a"), beside: map[string]string{"p.rego": "package b"}, want: map[string]*string{"p.rego": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := map[string]string{"p.yaml": tc.now}
			maps.Copy(data, tc.beside)
			got, err := entry(Active, tc.was, tc.modules).Restore(data)
			if errors.Is(err, ErrSame) != tc.same || err != nil && !tc.same {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// kindsOf is a document for several kinds of apps/v1.
func kindsOf(name, value string, kinds ...string) string {
	return strings.Replace(policy(name, value), "apiVersion: v1, kind: Node", "kinds: [{apiVersion: apps/v1, kind: "+strings.Join(kinds, "}, {apiVersion: apps/v1, kind: ")+"}]", 1)
}

// TestRestoreOfKinds: a text is that of all kinds of its document.
func TestRestoreOfKinds(t *testing.T) {
	t.Parallel()
	was := kindsOf("p", "a", "Deployment", "DaemonSet")
	for name, tc := range map[string]struct {
		was, now, want string // "" is an error
	}{
		"alone":                      {was, kindsOf("p", "b", "Deployment", "DaemonSet"), was},
		"a kind is removed":          {was, kindsOf("p", "b", "DaemonSet"), was},
		"among others":               {was, policy("q", "b") + "---\n" + kindsOf("p", "b", "Deployment") + "---\n" + policy("r", "b"), policy("q", "b") + "---\n" + was + "---\n" + policy("r", "b")},
		"removed among others":       {was, policy("q", "b") + "---\n" + kindsOf("p", "b", "DaemonSet"), policy("q", "b") + "---\n" + was},
		"now a document of its own":  {was, policy("p-deployment", "b"), ""},
		"it was one":                 {policy("p-deployment", "a"), was, ""},
		"all of the document is new": {was, policy("q", "b") + "---\n" + policy("r", "b"), policy("q", "b") + "---\n" + policy("r", "b") + "---\n" + was},
	} {
		e := &Entry{Copy: Copy{Policy: "p-deployment", File: "ns/m/p.yaml", Text: tc.was}, Result: Active}
		got, err := e.Restore(map[string]string{"p.yaml": tc.now})
		if (err != nil) != (tc.want == "") || err == nil && *got["p.yaml"] != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestBefore is the newest revision that was in force and is not the present
// one.
func TestBefore(t *testing.T) {
	t.Parallel()
	a, b, c := policy("p", "a"), policy("p", "b"), policy("p", "c")
	for name, tc := range map[string]struct {
		list []*Entry
		now  string
		want int // its place, -1 is none
	}{
		"nothing is kept":          {nil, a, -1},
		"only the present":         {[]*Entry{entry(Active, a, nil)}, a, -1},
		"the one before":           {[]*Entry{entry(Active, a, nil), entry(Active, b, nil)}, b, 0},
		"the present waits":        {[]*Entry{entry(Active, a, nil), entry(Active, b, nil), entry(Waiting, c, nil)}, c, 1},
		"one was refused":          {[]*Entry{entry(Active, a, nil), entry(Refused, b, nil), entry(Active, c, nil)}, c, 0},
		"not what was rolled back": {[]*Entry{entry(Active, a, nil), entry(Active, b, nil), entry(RolledBack, c, nil), entry(Active, b, nil)}, b, 0},
		"a remark is no other":     {[]*Entry{entry(Active, a, nil), entry(Active, b, nil)}, "# x\n" + b, 0},
		"the policy is gone":       {[]*Entry{entry(Active, a, nil), entry(Stopped, b, nil)}, "", 1},
	} {
		got, err := Before(tc.list, map[string]string{"p.yaml": tc.now})
		if (err != nil) != (tc.want < 0) || tc.want >= 0 && got != tc.list[tc.want] {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
