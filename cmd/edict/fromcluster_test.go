package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// policyText is a policy that labels nodes; more goes into its spec.
func policyText(name, more string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n" + more + "  params: {label: a}\n" +
		"  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: mark\n      do: [{labels: {set: {\"${params.label}\": x}}}]\n"
}

// inConfigMaps are policies of ConfigMaps, each in a file, with values for their
// params, and what is printed about them.
func inConfigMaps(t *testing.T, params map[string]string, maps ...map[string]string) (*policySet, string) {
	t.Helper()
	var contents []*source.Contents
	for i, data := range maps {
		made := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		contents = append(contents, (&source.ConfigMap{Namespace: "ns", Name: string(rune('a' + i)), Created: made, Data: data}).Read())
	}
	values := (&source.ConfigMap{Namespace: "ns", Name: "params", Data: params}).ReadParams()
	var told bytes.Buffer
	set, err := compiled(source.NewCatalog(contents, []*source.Values{values}, nil), schema.Builtin(), &told)
	if err != nil {
		t.Fatal(err)
	}
	set.where = "there"
	return set, told.String()
}

func namesOf(policies []*plan.Policy) (out []string) {
	for _, p := range policies {
		out = append(out, p.ID())
	}
	return out
}

// TestFromConfigMaps: what is wrong is told once, and in one order, also when it
// only shows in all of them together.
func TestFromConfigMaps(t *testing.T) {
	t.Parallel()
	broken, bad := policyText("broken", "  nonsense: 1\n"), strings.Replace(policyText("bad", ""), "params.label", "params.lable", 1)
	set, told := inConfigMaps(t,
		map[string]string{"one": "label: 1\n", "two": "label: [\n", "nobody": "label: [\n"},
		map[string]string{"one.yaml": policyText("one", ""), "two.yaml": policyText("two", ""), "three.yaml": policyText("three", "")},
		map[string]string{"bad.yaml": bad, "broken.yaml": broken, "three.yaml": policyText("three", "")})
	want := []string{
		"ns/b/bad.yaml:9:31: error: ", "ns/b/broken.yaml:5:3: error: ", `ns/b/three.yaml:3:18: error: the policy "three" is defined twice, first at ns/a/three.yaml:3:18`,
		"ns/params/nobody:1:1: error: not valid YAML", "ns/params/one:1:8: error: ", "ns/params/two:1:1: error: not valid YAML",
	}
	var got []string
	for line := range strings.Lines(told) {
		if strings.HasPrefix(line, "ns/") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("told:\n%s", told)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	for _, d := range []string{
		cmp.Diff([]string{"three"}, namesOf(set.policies)), cmp.Diff([]string{"bad", "one", "two"}, set.broken), cmp.Diff([]string{"ns/b/broken.yaml"}, set.unreadable),
	} {
		if d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

// TestChooseAmongBrokenOnes: a broken shadow does not hide what is enforced.
func TestChooseAmongBrokenOnes(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(policyText("one", "  mode: Shadow\n"), "params.label", "params.lable", 1)
	set, _ := inConfigMaps(t, map[string]string{"two": "label: 1"},
		map[string]string{"one.yaml": policyText("one", ""), "two.yaml": policyText("two", "")}, map[string]string{"one.yaml": bad})
	for names, want := range map[string]struct{ chosen, broken, err string }{
		"": {"one", "one@shadow two", ""}, "one": {"one", "one@shadow", ""}, "two": {"", "two", ""}, "one two": {"one", "one@shadow two", ""},
		"one tow": {"", "one@shadow", `there is no policy "tow" here`},
	} {
		chosen, broken, err := set.choose(strings.Fields(names))
		got := strings.Join(namesOf(chosen), " ")
		if got != want.chosen || strings.Join(broken, " ") != want.broken || (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%q: %q, broken %q, %v", names, got, broken, err)
		}
	}
	empty, _ := inConfigMaps(t, nil)
	if _, _, err := empty.choose(nil); err == nil || err.Error() != "no policy found there" {
		t.Errorf("among none: %v", err)
	}
}

// TestChooseKinds: the name of a document is that of its policies, also of those that do not
// compile.
func TestChooseKinds(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("apiVersion: v1, kind: Node", "kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: DaemonSet}]", "name: mark\n", "name: mark\n      when: object.spec.replicas > 1\n").Replace(policyText("one", ""))
	set, told := inConfigMaps(t, nil, map[string]string{"one.yaml": text})
	if !strings.Contains(told, `no field "replicas" here (for the kind DaemonSet)`) {
		t.Error(told)
	}
	for names, want := range map[string][2]string{
		"one": {"one-deployment", "one-daemonset"}, "one one-daemonset": {"one-deployment", "one-daemonset"}, "one-daemonset": {"", "one-daemonset"}, "one-deployment": {"one-deployment", ""},
	} {
		chosen, broken, err := set.choose(strings.Fields(names))
		if got := [2]string{strings.Join(namesOf(chosen), " "), strings.Join(broken, " ")}; got != want || err != nil {
			t.Errorf("%q: %q, %v", names, got, err)
		}
	}
}

// TestWhatIsReleased: an uninstallation goes on where there is nothing to
// release, and ends where it is not known what is left behind.
func TestWhatIsReleased(t *testing.T) {
	t.Parallel()
	shadow := strings.Replace(policyText("one", "  mode: Shadow\n"), "params.label", "params.lable", 1)
	for name, tc := range map[string]struct {
		maps      []map[string]string
		params    map[string]string
		names     []string
		chosen    string
		out, note string
	}{
		"nothing there":   {nil, nil, nil, "", "", "no policy found there\n"},
		"a broken shadow": {[]map[string]string{{"one.yaml": policyText("one", "")}, {"one.yaml": shadow}}, nil, nil, "one", "", ""},
		"a value that cannot be": {
			[]map[string]string{{"one.yaml": policyText("one", "") + "---\n" + policyText("two", "")}}, map[string]string{"one": "label: 1"}, nil,
			"two", "one: not released: it is not known what it leaves behind while it does not compile\n", "",
		},
		"what cannot be read": {
			[]map[string]string{{"one.yaml": policyText("one", ""), "x.yaml": "]"}}, nil, nil,
			"one", "ns/a/x.yaml: not released: it is not known which policies are in it while something in it cannot be read\n", "",
		},
		"named, beside what cannot be read": {[]map[string]string{{"one.yaml": policyText("one", ""), "x.yaml": "]"}}, nil, []string{"one"}, "one", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, _ := inConfigMaps(t, tc.params, tc.maps...)
			var out, note bytes.Buffer
			tally := &tally{Writer: &out}
			chosen, err := (&releaseFlags{all: len(tc.names) == 0}).choose(set, tc.names, &note, tally)
			if got := strings.Join(namesOf(chosen), " "); err != nil || got != tc.chosen || out.String() != tc.out || note.String() != tc.note {
				t.Errorf("%q, %q, %q (%v)", got, out.String(), note.String(), err)
			}
			if (tally.failed > 0) != (tc.out != "") {
				t.Errorf("%d have failed", tally.failed)
			}
		})
	}
}
