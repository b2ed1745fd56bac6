package run

import (
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// offline is a process without a cluster, which knows Nodes.
func offline() *process {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(kschema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	return &process{
		Options: Options{Log: slog.New(slog.DiscardHandler), PolicyNamespace: "ns"}, schemas: schema.NewSet(schema.Builtin()),
		mapper: mapper, guard: guard.New(nil), exports: newExports(),
	}
}

// text is a policy that marks nodes.
func text(name, value string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  params: {value: x}\n  rules:\n    - name: mark\n      do: [{labels: {set: {" + name + ": \"" + value + "\"}}}]\n"
}

// made is a ConfigMap of policies.
func made(name, mode string, data map[string]string) *source.ConfigMap {
	return &source.ConfigMap{Namespace: "ns", Name: name, UID: name, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Data: data, Mode: mode}
}

// shelved is a library that looks at ConfigMaps when it is told to.
type shelved struct {
	*library
	t *testing.T
}

func newShelved(t *testing.T) *shelved {
	t.Helper()
	p := offline()
	l := &library{term: p.newTerm(t.Context()), judge: judge{process: p}, adopted: map[string]*source.Unit{}, verdicts: map[string]*verdict{}}
	l.store = newRevisionStore(p, nil)
	return &shelved{library: l, t: t}
}

// see looks at ConfigMaps, and gives the policies that are to run, with the
// files that they stand in.
func (s *shelved) see(params map[string]string, maps ...*source.ConfigMap) map[string]string {
	s.t.Helper()
	var contents []*source.Contents
	for _, m := range maps {
		contents = append(contents, m.Read())
	}
	c := source.NewCatalog(contents, []*source.Values{made("params", "", params).ReadParams()}, nil)
	s.verdicts = s.judge.all(s.t.Context(), c, s.verdicts)
	out := map[string]string{}
	for _, id := range s.known(c) {
		rev := s.wanted(id, c)
		if rev == nil {
			delete(s.adopted, id)
			continue
		}
		s.adopted[id] = rev.unit
		out[id] = rev.unit.Revision()
		if v := s.verdicts[id]; v != nil && v.good() {
			s.store.kept[id] = kept{copy: copyOf(rev.unit)}
		}
	}
	return out
}

// TestWanted: what is refused changes nothing, and what is switched off does
// not run, be it right or not.
func TestWanted(t *testing.T) {
	t.Parallel()
	good, broken, unreadable := map[string]string{"p.yaml": text("p", "a")}, map[string]string{"p.yaml": text("p", "${nothing.at.all}")}, map[string]string{"p.yaml": "]"}
	type edit struct {
		data   map[string]string
		mode   string
		params map[string]string
	}
	bad := map[string]string{"p": "value: ["}
	for name, tc := range map[string]struct {
		edits []edit
		want  string // the ID of what runs in the end, as it was at first; "" is nothing
	}{
		"broken":                               {[]edit{{data: good}, {data: broken}}, "p"},
		"unreadable":                           {[]edit{{data: good}, {data: unreadable}}, "p"},
		"broken and mended":                    {[]edit{{data: good}, {data: broken}, {data: good}}, "p"},
		"disabled":                             {[]edit{{data: good}, {data: good, mode: "Disabled"}}, ""},
		"disabled, then broken":                {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: broken, mode: "Disabled"}}, ""},
		"disabled, then unreadable":            {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: unreadable, mode: "Disabled"}}, ""},
		"broken, then disabled":                {[]edit{{data: good}, {data: broken}, {data: broken, mode: "p=Disabled"}}, ""},
		"unreadable, then disabled":            {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "p=Disabled"}}, ""},
		"unreadable, then in the shadow":       {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "Shadow"}}, ""},
		"another one is disabled":              {[]edit{{data: good}, {data: unreadable}, {data: unreadable, mode: "q=Disabled"}}, "p"},
		"disabled, broken, and on again":       {[]edit{{data: good}, {data: broken, mode: "Disabled"}, {data: broken}}, "p"},
		"an unknown mode":                      {[]edit{{data: good}, {data: good, mode: "Shadwo"}}, "p"},
		"disabled, then an unknown mode":       {[]edit{{data: good}, {data: good, mode: "Disabled"}, {data: good, mode: "Disable"}}, ""},
		"in the shadow, then an unknown mode":  {[]edit{{data: good}, {data: good, mode: "Shadow"}, {data: good, mode: "Shadwo"}}, ""},
		"unreadable params":                    {[]edit{{data: good}, {data: good, params: bad}}, "p"},
		"unreadable params from the beginning": {[]edit{{data: good, params: bad}}, ""},
		"gone":                                 {[]edit{{data: good}, {data: nil}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelved(t)
			var first, got map[string]string
			for i, e := range tc.edits {
				got = s.see(e.params, made("m", e.mode, e.data))
				if i == 0 {
					first = got
				}
			}
			if want := map[string]string{"p": first["p"]}; tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || got["p"] != want["p"]) {
				t.Errorf("%v runs, at first %v", got, first)
			}
		})
	}
}

// TestAPolicyThatMoves goes by the file that it stands in now.
func TestAPolicyThatMoves(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	first := s.see(nil, made("one", "", map[string]string{"p.yaml": text("p", "a")}))
	s.see(nil, made("one", "", nil), made("two", "", map[string]string{"other.yaml": text("p", "a")}))
	got := s.see(nil, made("one", "", nil), made("two", "", map[string]string{"other.yaml": "]"}))
	if len(got) != 1 || got["p"] != first["p"] {
		t.Errorf("%v, not %v", got, first)
	}
}
