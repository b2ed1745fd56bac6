package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are changes of the engine, each with the worlds in which it is to be noticed.
var mutants = []struct {
	name, file, old, new string
	worlds               []string
}{
	{"a change of the primary object wakes nobody", "watch/change.go", "if turned || was != is || !c.sameUnder(c.router.policy.ObjectReads) {", "if turned || was != is {", []string{"own"}},
	{"a primary object that comes wakes nobody", "watch/change.go", "if turned || was != is || !c.sameUnder(c.router.policy.ObjectReads) {", "if turned || was && !c.sameUnder(c.router.policy.ObjectReads) {", []string{"own"}},
	{"a member that changes wakes nobody", "watch/inputs.go", "if was != is || was && !same {", "if was != is {", []string{"joined"}},
	{"a member that comes or goes wakes nobody", "watch/inputs.go", "if was != is || was && !same {", "if was && is && !same {", []string{"joined"}},
	{"a member that changes wakes nobody, without an index", "watch/inputs.go", "if was != is || was == eval.AtTimes || was == eval.Member && !same {", "if was != is || was == eval.AtTimes {", []string{"scanned"}},
	{"a member that comes or goes wakes nobody, without an index", "watch/inputs.go", "if was != is || was == eval.AtTimes || was == eval.Member && !same {", "if was == is && was == eval.Member && !same {", []string{"scanned"}},
	{"until when a list holds is forgotten", "eval/memoinput.go", "	r.ev.noteFlip(m.held.until)\n", "", []string{"timed"}},
	{"until when a changed list holds is forgotten", "eval/reads.go", "		k.until = h.until\n", "		_ = h.until\n", []string{"due"}},
	{"an object that is got by name wakes nobody", "watch/inputs.go", "if !c.untouched(routes.reads[key]) {", "if false {", []string{"named"}},
	{"the name that a key gets is not looked at again", "watch/change.go", "	if !was || !c.sameUnder(c.router.policy.ObjectReads) {\n		c.probes", "	if !was {\n		c.probes", []string{"named"}},
	{"an entry that comes wakes nobody", "watch/inputs.go", "	if is != eval.NotMember {\n		routes.entries.each(newKey, wake)", "	if false {\n		routes.entries.each(newKey, wake)", []string{"entries"}},
	{"an entry that goes wakes nobody", "watch/inputs.go", "	if was != eval.NotMember {\n		routes.entries.each(oldKey, wake)", "	if false {\n		routes.entries.each(oldKey, wake)", []string{"entries"}},
	{"a list that all share wakes nobody", "watch/inputs.go", "	routes.whole.near(in, c.either(), wake)\n", "", []string{"whole"}},
	{"an object that an action names wakes nobody", "watch/change.go", "	if c.sameUnder(t.Reads) {", "	if true || c.sameUnder(t.Reads) {", []string{"target"}},
	{"a result is kept when the primary object has changed", "eval/still.go", "	return c.sameObject(object, mask) && c.sameRecalls", "	return c.sameRecalls", []string{"own", "named", "remembered"}},
	{"a result is kept when a list has changed", "eval/still.go", "		if !identical(v, list[i].value) {", "		if v == nil && !identical(v, list[i].value) {", []string{"joined", "whole"}},
	{"a result is kept when an entry has changed", "eval/still.go", "	return ok && identical(m.Lookup(e.key), e.value)", "	return ok && m != nil", []string{"entries", "joined"}},
	{"what is remembered is forgotten", "reconcile/memories.go", "			values[name] = v\n", "			delete(values, name)\n", []string{"remembered"}},
	{"writes are sent in the other order", "apply/apply.go", "	for i, w := range writes {\n		out[i] = run.one(w.Effect())\n	}\n	return out", "	for i := len(writes) - 1; i >= 0; i-- {\n		out[i] = run.one(writes[i].Effect())\n	}\n	return out", []string{"ordered"}},
	{"a run that is over is still pending", "reconcile/debouncer.go", "*i = intent{key: b.key, rule: d.Rule, window: d.Window, last: b.now,", "*i = intent{key: b.key, rule: d.Rule, window: d.Window, last: b.now, pending: true, due: b.now,", []string{"debounced"}},
}

// TestMutantsFitTheEngine: what a mutant changes is in the engine once, also after the
// engine was rewritten. Whether it is noticed, TestMutants tries.
func TestMutantsFitTheEngine(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		mutated(t, m.file, m.old, m.new)
		for _, world := range m.worlds {
			if _, err := os.Stat(filepath.Join("testdata", world, "policy.yaml")); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
	}
}

// TestMutants: the engine as it is does nothing wrong in any of the worlds, and each
// mutant does something that is found.
func TestMutants(t *testing.T) {
	if os.Getenv("EDICT_TEST_MUTANTS") == "" {
		t.Skip("EDICT_TEST_MUTANTS=1 builds the engine once for each mutant")
	}
	worlds, err := filepath.Glob("testdata/*")
	if err != nil || len(worlds) == 0 {
		t.Fatal(worlds, err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(look(t, build(t, nil), worlds...)), "\n") {
		if !strings.Contains(line, ": nothing in ") {
			t.Errorf("without a change: %s", line)
		}
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			program := build(t, mutated(t, m.file, m.old, m.new))
			var said []string
			for _, world := range m.worlds {
				if out := look(t, program, filepath.Join("testdata", world)); !strings.Contains(out, ": nothing in ") {
					t.Log(strings.TrimSpace(out))
					return
				} else {
					said = append(said, strings.TrimSpace(out))
				}
			}
			t.Errorf("nothing is found: %s", said)
		})
	}
}

// mutated returns the files of a build in which a text of the engine is another.
func mutated(t *testing.T, file, old, text string) map[string]string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../engine", file))
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(path)
	if err != nil || strings.Count(string(was), old) != 1 {
		t.Fatalf("%s has the text of a mutant %d times, want once; where has it gone? %q: %v", file, strings.Count(string(was), old), old, err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(to, []byte(strings.Replace(string(was), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{path: to}
}

// build builds the program that explores, with some files replaced.
func build(t *testing.T, replaced map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "look")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", program, "./look")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func look(t *testing.T, program string, worlds ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, worlds...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
