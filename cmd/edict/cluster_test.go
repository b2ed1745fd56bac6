package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/source"
)

// apiServer is as much of one as the commands ask: Nodes, ConfigMaps, PolicySets and
// ControllerRevisions.
type apiServer struct {
	nodes      []corev1.Node
	sets       []edictv1.PolicySet
	configMaps []corev1.ConfigMap
	revisions  []appsv1.ControllerRevision

	// listed is called when an answer is made, before it is sent; nil is nothing.
	listed func(resource string)

	mu sync.Mutex
	// changes are the requests that would change something.
	changes []string
}

// start serves and returns the file of a kubeconfig.
func (s *apiServer) start(t *testing.T) (kubeconfig string) {
	t.Helper()
	t.Cleanup(func() {
		if len(s.changes) > 0 {
			t.Errorf("sent %v", s.changes)
		}
	})
	return serving(t, s)
}

// serving returns the file of a kubeconfig for an API server.
func serving(t *testing.T, s http.Handler) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return writeFile(t, t.TempDir(), "kubeconfig", `
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "`+server.URL+`"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
`)
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.mu.Lock()
		s.changes = append(s.changes, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
	}
	var out any = &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
	status := http.StatusOK
	namespace, resource := namespaced(r.URL.Path)
	switch {
	case r.URL.Path == "/api":
		out = &metav1.APIVersions{Versions: []string{"v1"}}
	case r.URL.Path == "/apis":
		out = groups("apps/v1", "edict.dev/v1alpha1")
	case r.URL.Path == "/api/v1":
		out = &metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Node", Verbs: verbs}, {Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs}}}
	case r.URL.Path == "/apis/apps/v1":
		out = &metav1.APIResourceList{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "controllerrevisions", Kind: "ControllerRevision", Namespaced: true, Verbs: verbs}}}
	case r.URL.Path == "/apis/edict.dev/v1alpha1":
		out = &metav1.APIResourceList{GroupVersion: "edict.dev/v1alpha1", APIResources: []metav1.APIResource{{Name: "policysets", Kind: "PolicySet", Namespaced: true, Verbs: verbs}}}
	case r.URL.Path == "/api/v1/nodes":
		out = s.list("v1", "NodeList", r, "", s.nodeList())
	case resource == "configmaps":
		out = s.list("v1", "ConfigMapList", r, namespace, s.configMapList())
	case strings.HasPrefix(resource, "configmaps/"):
		status = http.StatusNotFound
		for _, m := range s.configMapList() {
			if m.GetNamespace() == namespace && "configmaps/"+m.GetName() == resource {
				out, status = m, http.StatusOK
			}
		}
	case resource == "policysets", r.URL.Path == "/apis/edict.dev/v1alpha1/policysets":
		out = s.list("edict.dev/v1alpha1", "PolicySetList", r, namespace, s.setList())
	case resource == "controllerrevisions":
		out = s.list("apps/v1", "ControllerRevisionList", r, namespace, s.revisionList())
	default:
		status = http.StatusNotFound
	}
	if s.listed != nil {
		s.listed(resource)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

var verbs = []string{"get", "list", "patch"}

// groups are those of some versions.
func groups(versions ...string) *metav1.APIGroupList {
	out := &metav1.APIGroupList{}
	for _, version := range versions {
		group, name, _ := strings.Cut(version, "/")
		v := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: name}
		out.Groups = append(out.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
	}
	return out
}

// namespaced returns what a path lists in a namespace; "" for another path.
func namespaced(path string) (namespace, resource string) {
	for _, group := range []string{"/api/v1", "/apis/apps/v1", "/apis/edict.dev/v1alpha1"} {
		if rest, ok := strings.CutPrefix(path, group+"/namespaces/"); ok {
			namespace, resource, _ = strings.Cut(rest, "/")
		}
	}
	return namespace, resource
}

// listedObject is one of a list.
type listedObject interface {
	runtime.Object
	metav1.Object
}

func (s *apiServer) nodeList() (out []listedObject) {
	for i := range s.nodes {
		s.nodes[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		out = append(out, s.nodes[i].DeepCopy())
	}
	return out
}

func (s *apiServer) configMapList() (out []listedObject) {
	for i := range s.configMaps {
		s.configMaps[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		out = append(out, s.configMaps[i].DeepCopy())
	}
	return out
}

func (s *apiServer) setList() (out []listedObject) {
	for i := range s.sets {
		out = append(out, s.sets[i].DeepCopy())
	}
	return out
}

func (s *apiServer) revisionList() (out []listedObject) {
	for i := range s.revisions {
		out = append(out, s.revisions[i].DeepCopy())
	}
	return out
}

// list answers by the selectors of a request.
func (s *apiServer) list(version, kind string, r *http.Request, namespace string, all []listedObject) any {
	byLabel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		byLabel = labels.Nothing()
	}
	byField, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		byField = fields.Nothing()
	}
	items := []listedObject{}
	for _, o := range all {
		if (namespace == "" || o.GetNamespace() == namespace) && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(fields.Set{"metadata.name": o.GetName()}) {
			items = append(items, o)
		}
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"resourceVersion": "1"}, "items": items}
}

// marking is a policy that gives Nodes a label.
func marking(name, value string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  rules:\n    - name: mark\n      do: [{labels: {set: {" + name + ": " + value + "}}}]\n"
}

// label allows a policy to write the label of its name.
func label(policy string) edictv1.Allowance {
	core := ""
	return edictv1.Allowance{Policy: policy, APIGroup: &core, Kind: "Node", Fields: []string{"metadata.labels." + policy}}
}

// small is a cluster of one Node, and a set with two policies, of which one has been written.
func small() *apiServer {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"one": "old", "two": "other"}}}
	return &apiServer{
		nodes: []corev1.Node{node}, sets: []edictv1.PolicySet{*setOf("s", func(s *edictv1.PolicySet) { s.Spec.Allow = []edictv1.Allowance{label("one"), label("two")} })},
		configMaps: []corev1.ConfigMap{*mapOf(map[string]string{"one.yaml": marking("one", "old"), "two.yaml": marking("two", "old")})},
	}
}

// TestPlanAgainstSets: the policies of the file replace those of the same name
// in the sets, and the others go on as they are.
func TestPlanAgainstSets(t *testing.T) {
	t.Parallel()
	kubeconfig := small().start(t)
	for name, tc := range map[string]struct {
		edit string
		code int
		want string
	}{
		"an edit of one":  {marking("one", "new"), 2, "Node a: update, by s/one, s/two\n  metadata.labels.one: \"old\" -> \"new\"\n\n0 to create, 1 to change"},
		"no edit":         {marking("one", "old"), 0, "0 to create, 0 to change, 0 to delete, 1 unchanged"},
		"one more":        {marking("three", "new"), 2, "  metadata.labels.three: - -> \"new\"\n\n0 to create, 1 to change"},
		"one that is off": {strings.Replace(marking("one", "new"), "spec:\n", "spec:\n  mode: Disabled\n", 1), 0, "0 to create, 0 to change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := writeFile(t, folder, "edit.yaml", tc.edit)
			writeFile(t, folder, "allowances.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec:\n  allow: [{policy: three, apiGroup: \"\", kind: Node, fields: [metadata.labels.three]}]\n")
			got := program(t, "plan", "--policies", file, "-n", "edict-system", "--kubeconfig", kubeconfig)
			if got.code != tc.code || !strings.Contains(got.stdout, tc.want) || strings.Contains(got.stdout, "labels.two:") {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestPlanWaits: a policy with a required param changes nothing in a cluster until the value is
// given, and the one before goes on.
func TestPlanWaits(t *testing.T) {
	t.Parallel()
	kubeconfig := small().start(t)
	text := strings.Replace(marking("one", "new"), "spec:\n", "spec:\n  params: {x: {default: a, required: true}}\n", 1)
	file := writeFile(t, t.TempDir(), "edit.yaml", text)
	args := []string{"plan", "--policies", file, "-n", "edict-system", "--kubeconfig", kubeconfig}
	got := program(t, args...)
	const waits = "edict: the policy one would wait: ParamMissing: no value is given for the param x; "
	if got.code != 0 || !strings.Contains(got.stderr, waits) || !strings.Contains(got.stdout, "0 to change") {
		t.Errorf("%d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := program(t, append(args, "--param", "one.x=b")...); got.code != 2 || strings.Contains(got.stderr, "would wait") {
		t.Errorf("%d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// revision is that of the text of a ConfigMap.
func revision(m *corev1.ConfigMap) string { return source.Revision(source.NewConfigMap(m).Digest()) }

// refused is a cluster in which the text of the policy one has a mistake, so that its last
// text is still active.
func refused(t *testing.T) *apiServer {
	t.Helper()
	cluster := small()
	m := &cluster.configMaps[0]
	cluster.revisions = append(cluster.revisions, *keptText(t, "s", 1, map[string]string{"one.yaml": marking("one", "old"), "two.yaml": marking("two", "old")}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	was := revision(m)
	m.Data["one.yaml"] = marking("one", "[")
	cluster.sets[0].Status.Policies = []edictv1.PolicyStatus{{Name: "one", LastGood: was, Reason: "LastGoodEnforced"}, {Name: "two", LastGood: revision(m)}}
	return cluster
}

// TestWhatIsInForce: commands that look at the policies of a cluster look at the revisions
// in force, not at texts that were refused.
func TestWhatIsInForce(t *testing.T) {
	t.Parallel()
	kubeconfig := refused(t).start(t)
	edit := writeFile(t, t.TempDir(), "edit.yaml", marking("one", "new"))
	const note = "edict: the policy s/one: active is the text "
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"plan":    {[]string{"plan", "--policies", edit}, 2, "metadata.labels.one: \"old\" -> \"new\"\n\n0 to create, 1 to change"},
		"explain": {[]string{"explain", "one", "a"}, 0, "Node a: nothing has to be written"},
		"params":  {[]string{"params", "one"}, 0, "POLICY"},
		"eval":    {[]string{"eval", "object.metadata.name", "--policy", "one", "--key", "a"}, 0, "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, append(tc.args, "-n", "edict-system", "--kubeconfig", kubeconfig)...)
			if got.code != tc.code || !strings.Contains(got.stdout, tc.want) || !strings.Contains(got.stderr, note) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestNothingRuns: the plan of a policy of which nothing runs, because its text in the
// ConfigMap waits, begins without it; others look at the text, and say so.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	cluster := small()
	delete(cluster.nodes[0].Labels, "one")
	cluster.sets[0].Status.Policies = []edictv1.PolicyStatus{{Name: "one", Reason: "Waiting"}, {Name: "two", LastGood: revision(&cluster.configMaps[0])}}
	kubeconfig := cluster.start(t)
	edit := writeFile(t, t.TempDir(), "edit.yaml", marking("one", "old"))
	const note = "edict: nothing of the policy s/one is active (Waiting); "
	for name, tc := range map[string]struct {
		args         []string
		code         int
		want, stderr string
	}{
		"plan":    {[]string{"plan", "--policies", edit}, 2, "metadata.labels.one: - -> \"old\"\n\n0 to create, 1 to change", note + "it counts as not there\n"},
		"explain": {[]string{"explain", "one", "a"}, 0, "and patches Node a", note + "the text is taken\n"},
		"params":  {[]string{"params", "one"}, 0, "POLICY", note + "the text is taken\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, append(tc.args, "-n", "edict-system", "--kubeconfig", kubeconfig)...)
			if got.code != tc.code || !strings.Contains(got.stdout, tc.want) || !strings.Contains(got.stderr, tc.stderr) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
	for _, command := range []string{"explain", "eval", "params"} {
		args := map[string][]string{"explain": {"two", "a"}, "eval": {"object.metadata.name", "--policy", "two", "--key", "a"}, "params": {"two"}}[command]
		got := program(t, append(append([]string{command}, args...), "-n", "edict-system", "--kubeconfig", kubeconfig)...)
		if got.code != 0 || strings.Contains(got.stderr, "the policy s/one") {
			t.Errorf("%s of another policy: exit code %d: %s", command, got.code, got.stderr)
		}
	}
}

// TestCaptureWhatIsInForce: the text beside the test is the one that was decided by.
func TestCaptureWhatIsInForce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	got := program(t, "capture", "one", "a", "-n", "edict-system", "--kubeconfig", refused(t).start(t), "--out", filepath.Join(folder, "test.yaml"))
	if text := readFile(t, filepath.Join(folder, "one.yaml")); got.code != 0 || text != marking("one", "old") {
		t.Errorf("%d: %s\n%s", got.code, got.stderr, text)
	}
}

// TestCaptureDuringARollout: the text beside the test is the one by which the controller
// decided about the object, not the one in force for the others.
func TestCaptureDuringARollout(t *testing.T) {
	t.Parallel()
	cluster := refused(t)
	cluster.configMaps[0].Data["one.yaml"] = marking("one", "new")
	unit := func(text string) string {
		return source.Read(source.NewSet(&cluster.sets[0]), &source.ConfigMap{Data: map[string]string{"one.yaml": text}}).Units[0].Revision()
	}
	coming, was := unit(marking("one", "new")), unit(marking("one", "old"))
	kubeconfig := cluster.start(t)
	for name, tc := range map[string]struct{ revision, want, err string }{
		"in force": {was, marking("one", "old"), ""},
		"coming":   {coming, marking("one", "new"), ""},
		"gone":     {"0a1b2c3d4e5f", "", "the revision 0a1b2c3d4e5f of the policy s/one is neither in the ConfigMap nor in the history"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			controller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"kind": "Node", "decision": {"policy": "s/one", "revision": %q}}`, tc.revision)
			}))
			t.Cleanup(controller.Close)
			folder := t.TempDir()
			got := program(t, "capture", "one", "a", "-n", "edict-system", "--kubeconfig", kubeconfig, "--address", controller.URL, "--out", filepath.Join(folder, "test.yaml"))
			if tc.want == "" {
				if !strings.Contains(got.stderr, tc.err) {
					t.Errorf("%s", got.stderr)
				}
			} else if text := readFile(t, filepath.Join(folder, "one.yaml")); text != tc.want {
				t.Errorf("%s\n%s", got.stderr, text)
			}
		})
	}
}

// TestCaptureWhileARevisionComes: a test of another revision than the one whose text
// would be beside it is not asked for.
func TestCaptureWhileARevisionComes(t *testing.T) {
	t.Parallel()
	cluster := small()
	revision := source.Read(source.NewSet(&cluster.sets[0]), source.NewConfigMap(&cluster.configMaps[0])).Units[0].Revision()
	controller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == live.Path {
			fmt.Fprintf(w, `{"kind": "Node", "decision": {"policy": "s/one", "revision": %q}}`, revision)
			return
		}
		http.Error(w, "asked for "+r.URL.Query().Get("revision"), http.StatusConflict)
	}))
	t.Cleanup(controller.Close)
	folder := t.TempDir()
	got := program(t, "capture", "one", "a", "-n", "edict-system", "--kubeconfig", cluster.start(t), "--address", controller.URL, "--out", filepath.Join(folder, "test.yaml"))
	if got.code != 1 || !strings.Contains(got.stderr, "409 Conflict: asked for "+revision) {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("written is %v, %v", left, err)
	}
}

// TestEvalOnACluster: an expression sees fields that its policy does not read.
func TestEvalOnACluster(t *testing.T) {
	t.Parallel()
	got := program(t, "eval", "object.metadata.labels", "--policy", "one", "--key", "a", "-n", "edict-system", "--kubeconfig", small().start(t))
	if got.code != 0 || got.stdout != "one: old\ntwo: other\n" {
		t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// TestWithoutAController: when none runs explain and capture evaluate the policies of
// the ConfigMaps themselves, and say so. The policy's text is written beside the test.
func TestWithoutAController(t *testing.T) {
	t.Parallel()
	cluster := small()
	cluster.nodes[0].Labels["one"] = "other"
	flags := []string{"-n", "edict-system", "--kubeconfig", cluster.start(t)}
	const told = "no running controller answers (no controller leads: there is no Lease edict-system/edict); the policy is evaluated here, on the objects of the cluster"
	got := program(t, append([]string{"explain", "one", "a"}, flags...)...)
	if got.code != 0 || !strings.Contains(got.stderr, told) || !strings.Contains(got.stdout, "Node a: ") || !strings.Contains(got.stdout, `patch  {"metadata":{"labels":{"one":"old"}}}`) {
		t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
	}
	got = program(t, append([]string{"capture", "one", "a"}, flags...)...)
	if got.code != 1 || !strings.Contains(got.stderr, "the policy is in a ConfigMap: with --out FILE its text is written beside the test") {
		t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "captured.yaml")
	got = program(t, append([]string{"capture", "one", "a", "--out", file}, flags...)...)
	if got.code != 0 || !strings.Contains(got.stderr, told) {
		t.Fatalf("%d: %s", got.code, got.stderr)
	}
	if text := readFile(t, filepath.Join(folder, "one.yaml")); text != marking("one", "old") {
		t.Errorf("beside the test is:\n%s", text)
	}
	if test := readFile(t, file); !strings.Contains(test, "- one.yaml") {
		t.Errorf("the test names another file:\n%s", test)
	}
	if got := program(t, "test", file); got.code != 0 || !strings.Contains(got.stdout, "1 passed, 0 failed") {
		t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
	}
	for _, command := range []string{"explain", "capture"} {
		got := program(t, append([]string{command, "none", "a"}, flags...)...)
		if got.code != 1 || !strings.Contains(got.stderr, `there is no policy "none" here`) {
			t.Errorf("%s: %d: %s", command, got.code, got.stderr)
		}
	}
}

// TestShadowReports: what the leader reports is shown, all of it or of some policies.
func TestShadowReports(t *testing.T) {
	t.Parallel()
	const reports = `[{"policy":"next/one","revision":"6f1c2a90b7de","enforced":"11aa22bb33cc","evaluations":7,"disagreements":2,"differing":1}, {"policy":"next/two","revision":"6f1c2a90b7de"}]`
	for name, tc := range map[string]struct {
		answer string
		args   []string
		code   int
		want   []string
		absent string
	}{
		"all":           {reports, nil, 0, []string{"next/one", "11aa22bb33cc", "next/two", "(none)"}, "No policy"},
		"one":           {reports, []string{"next/one"}, 0, []string{"next/one"}, "next/two"},
		"another":       {reports, []string{"one"}, 1, []string{`no policy "one" is in Shadow mode`}, "next"},
		"none":          {"[]", nil, 0, []string{"No policy is in the shadow.\n"}, "POLICY"},
		"no controller": {"hello", nil, 1, []string{"that does not answer as a controller does"}, "POLICY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			controller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tc.answer) }))
			t.Cleanup(controller.Close)
			got := program(t, append([]string{"shadow", "--address", controller.URL}, tc.args...)...)
			said := got.stdout + got.stderr
			for _, want := range tc.want {
				if got.code != tc.code || !strings.Contains(said, want) || strings.Contains(said, tc.absent) {
					t.Errorf("exit code %d\n%s", got.code, said)
				}
			}
		})
	}
}
