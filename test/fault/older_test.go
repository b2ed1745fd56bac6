package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// olderBy is how many commits back the older program is.
const olderBy = "12"

var errNoHistory = errors.New("the history of the repository is not there")

// olderEdict builds the program of EDICT_TEST_OLDER, a commit, or of one that is some
// commits back.
func olderEdict(t *testing.T) (binary, commit string, err error) {
	t.Helper()
	root := filepath.Join("..", "..")
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit = os.Getenv("EDICT_TEST_OLDER")
	if commit == "" {
		if commit, err = git("rev-list", "--first-parent", "--max-count=1", "--skip="+olderBy, "HEAD"); err != nil || commit == "" {
			return "", "", errors.Join(errNoHistory, err)
		}
	}
	folder := t.TempDir()
	archive := filepath.Join(folder, "source.tar")
	if _, err := git("archive", "--output="+archive, commit); err != nil {
		return "", "", errors.Join(errNoHistory, err)
	}
	source := filepath.Join(folder, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", "", err
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("%w: %s", err, out)
	}
	binary = filepath.Join(folder, "edict-older")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/edict")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, commit, nil
}

// TestOlderBinary (F7): under traffic an older program takes over from a newer one,
// and that one again from it, as when an image is rolled back. Pauses, holds, edits
// that were refused and the history stay, and nothing is written again.
func TestOlderBinary(t *testing.T) {
	if os.Getenv("EDICT_TEST_FAULT") == "" {
		t.Skip("EDICT_TEST_FAULT=1 (make test-fault) runs it")
	}
	older, commit, err := olderEdict(t)
	if errors.Is(err, errNoHistory) {
		t.Skipf("NOT RUN: an older program cannot be built: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the older program is that of %s", commit)
	s := setScene(t, scene{controllers: 1, configMaps: true})
	newer, c := s.controllers[0].binary, s.controllers[0]
	u := s.upheaval()
	u.wantAll()
	s.traffic.begin()
	for _, binary := range []string{older, newer, older, newer} {
		c.stop()
		c.binary = binary
		c.start()
		s.eventually("it leads", 30*time.Second, leadsNow(c))
		u.wantAll()
		u.edit()
	}
	s.traffic.end(0)
	s.converged("after the roll-outs", 30*time.Second)
	u.wantAll()
	u.endAll()
	s.judge()
}

// upheaval is a state of policies that a controller has to take over: one that was
// edited and whose last edit was refused, two that are paused and one that is held.
type upheaval struct {
	*stage
	version int
	// kept are the revisions that were seen, and what is in them.
	kept map[string]string
	// written is how much was written about the node of the policies that are paused
	// or held.
	written int
}

var revisions = kschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}

func (s *stage) upheaval() *upheaval {
	s.t.Helper()
	u := &upheaval{stage: s, kept: map[string]string{}}
	for _, name := range []string{"counted", "edited"} {
		s.idleNode(name)
	}
	u.edit()
	for _, name := range []string{"one", "two"} {
		s.policy(name, countingRule(name, "counted"))
	}
	s.note("one", "status", "Paused", 30*time.Second)
	s.note("two", "status", "Paused", 30*time.Second)
	s.policy("held", nodeRule("held", "held", "labels: {set: {held: no}}"))
	s.note("held", "status", "Active", 30*time.Second)
	s.edict("hold", "--policy", "held", "--reason", "maintenance", "--for", "1h")
	s.note("held", "warning", "is held", 30*time.Second)
	s.idleNode("held")
	time.Sleep(2 * time.Second)
	u.written = u.count()
	return u
}

// countingRule is a policy that counts for ever in a label of a node, and is paused after
// each five times.
func countingRule(policy, node string) string {
	text := nodeRule(policy, node, fmt.Sprintf(`labels: {set: {%s: '${string(int(object.metadata.?labels[?"%s"].orValue("0")) + 1)}'}}`, policy, policy))
	return strings.Replace(text, "  rules:", "  limits: {changes: {perWindow: 5}}\n  rules:", 1)
}

// count is how much was written that is held back now.
func (u *upheaval) count() (n int) {
	for _, policy := range []string{"one", "two"} {
		n += len(u.writesOf(policy, "counted"))
	}
	return n + len(u.writesOf("held", "held"))
}

// edit puts another text into force, and then one that is refused.
func (u *upheaval) edit() {
	u.t.Helper()
	u.version++
	text := nodeRule("edited", "edited", fmt.Sprintf(`labels: {set: {version: "v%d"}}`, u.version))
	u.policy("edited", text)
	u.eventually("the label", 30*time.Second, u.label("edited", "version", fmt.Sprintf("v%d", u.version)))
	u.eventually("the edit is proven and kept", 30*time.Second, func(ctx context.Context) string {
		if text, err := u.textsKept(ctx); err != nil || !strings.Contains(text["edited"], fmt.Sprintf("v%d", u.version)) {
			return fmt.Sprintf("no revision of it is kept (%v)", err)
		}
		return ""
	})
	u.policy("edited", strings.ReplaceAll(text, `"v`, `"${nobody}v`))
	u.note("edited", "status", "Refused", 30*time.Second)
}

// textsKept is the text of all revisions that are kept, by policy.
func (u *upheaval) textsKept(ctx context.Context) (map[string]string, error) {
	list, err := u.client.Resource(revisions).Namespace(home).List(ctx, metav1.ListOptions{LabelSelector: "edict.dev/revision-of"})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, o := range list.Items {
		out[o.GetLabels()["edict.dev/revision-of"]] += fmt.Sprint(o.Object["data"])
	}
	return out, nil
}

// wantAll wants the state to be as it was before a program took over.
func (u *upheaval) wantAll() {
	u.t.Helper()
	u.note("edited", "status", "Refused", 30*time.Second)
	u.note("edited", "error", "nobody", 10*time.Second)
	u.note("one", "status", "Paused", 30*time.Second)
	u.note("two", "status", "Paused", 30*time.Second)
	u.note("held", "warning", "is held", 30*time.Second)
	u.eventually("the label", 5*time.Second, u.label("edited", "version", fmt.Sprintf("v%d", u.version)))
	u.eventually("what is held", 5*time.Second, u.label("held", "held", ""))
	if n := u.count(); n != u.written {
		u.t.Errorf("%d writes of what is paused or held, %d before", n, u.written)
	}
	u.keeps()
}

// keeps wants every revision that was kept to be there as it was, but for the oldest
// ones of more than ten.
func (u *upheaval) keeps() {
	u.t.Helper()
	list, err := u.client.Resource(revisions).Namespace(home).List(u.t.Context(), metav1.ListOptions{LabelSelector: "edict.dev/revision-of"})
	u.must(nil, err)
	now := map[string]string{}
	for _, o := range list.Items {
		now[o.GetName()] = fmt.Sprint(o.Object["data"])
	}
	for name, data := range u.kept {
		if now[name] != data {
			u.t.Errorf("the kept revision %s is not what it was: %.200s, and was %.200s", name, now[name], data)
		}
	}
	maps.Copy(u.kept, now)
}

// endAll ends a pause and the hold; no text counts as having ended a process.
func (u *upheaval) endAll() {
	u.t.Helper()
	u.must(nil, u.client.Resource(configMaps).Namespace(home).Delete(u.t.Context(), "two", metav1.DeleteOptions{}))
	u.edict("resume", "one")
	u.eventually("the label", 20*time.Second, u.label("counted", "one", "10"))
	u.edict("hold", "release", "--policy", "held")
	u.eventually("the label", 20*time.Second, u.label("held", "held", "no"))
	u.eventually("the journal is empty", 20*time.Second, func(ctx context.Context) string {
		found, err := u.client.Resource(revisions).Namespace(home).Get(ctx, "edict-journal", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if text := found.GetAnnotations()["edict.dev/journal"]; text != "{}" {
			return text
		}
		return ""
	})
}

// edict runs a command of the program in the namespace of the policies.
func (s *stage) edict(args ...string) string {
	s.t.Helper()
	binary, err := edict()
	s.must(nil, err)
	args = append(args, "--kubeconfig", s.plane.Kubeconfig(), "--policy-namespace", home)
	out, err := exec.CommandContext(s.t.Context(), binary, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("edict %v: %v: %s", args, err, out)
	}
	return string(out)
}
