package format_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/format"
	"github.com/edict-dev/edict/engine/load"
)

const head = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\n"

// TestText formats documents; what is formatted stays as it is.
func TestText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"as it should be": {head + "spec:\n  for: {apiVersion: v1, kind: Node}\n", head + "spec:\n  for: {apiVersion: v1, kind: Node}\n"},
		"indentation": {
			head + "spec:\n    for: {apiVersion: v1, kind: Node}\n    rules:\n    # why\n    -   name: r\n        do:\n        - log:\n             message: x\n",
			head + "spec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n    # why\n    - name: r\n      do:\n        - log:\n            message: x\n",
		},
		"sections": {
			"kind: Policy\napiVersion: edict.dev/v1alpha1\nspec:\n  # rules\n  rules: []\n\n  # for\n  for: {apiVersion: v1, kind: Node}\nmetadata: {name: p}\n",
			"apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  # for\n  for: {apiVersion: v1, kind: Node}\n\n  # rules\n  rules: []\n",
		},
		"comments of sections": {
			"# about\n\n" + head + "spec:\n  for: {}\n\n  # ---- rules ----\n\n  # The one\n  # rule.\n  rules:\n    - {name: x, do: []}\n    # no more\n\n  # ---- variables ----\n\n  # Not used.\n  variables:\n    - {name: u, expression: '1'}\n# End of the policy p.\n",
			"# about\n\n" + head + "spec:\n  for: {}\n\n  # ---- variables ----\n\n  # Not used.\n  variables:\n    - {name: u, expression: '1'}\n\n  # ---- rules ----\n\n  # The one\n  # rule.\n  rules:\n    - {name: x, do: []}\n    # no more\n# End of the policy p.\n",
		},
		"a comment at the end": {
			"kind: Policy\napiVersion: edict.dev/v1alpha1\nspec: {}\n# of\n# metadata\nmetadata: {name: p}\n\n# last\n",
			"apiVersion: edict.dev/v1alpha1\nkind: Policy\n# of\n# metadata\nmetadata: {name: p}\nspec: {}\n\n# last\n",
		},
		"a block": {
			head + "spec:\n    variables:\n        - name: x\n          expression: |-\n              a\n\n\n                # b  \n              c\n",
			head + "spec:\n  variables:\n    - name: x\n      expression: |-\n          a\n\n\n            # b  \n          c\n",
		},
		"white space": {"# about  \n\n\n" + head + "spec:  # here\n  for: {}   \n\n\n  rules: []\n\n", "# about\n\n" + head + "spec:  # here\n  for: {}\n\n  rules: []\n"},
		"quotes":      {head + "spec:\n  rules: [{name: 'r', when: \"a  &&  b\"}]\n", head + "spec:\n  rules: [{name: 'r', when: \"a  &&  b\"}]\n"},
		"a manifest":  {"kind:   Pod\napiVersion: v1\n", "kind:   Pod\napiVersion: v1\n"},
		"several documents": {
			head + "spec: {}\n---\nkind:   Pod\n---\n" + head + "spec:\n    for: {}\n",
			head + "spec: {}\n---\nkind:   Pod\n---\n" + head + "spec:\n  for: {}\n",
		},
		"without an end": {head + "spec: {}", head + "spec: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := format.Text("f.yaml", []byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if again, err := format.Text("f.yaml", got); err != nil || string(again) != string(got) {
				t.Errorf("%v: %s", err, cmp.Diff(string(got), string(again)))
			}
		})
	}
}

func TestNotYAML(t *testing.T) {
	t.Parallel()
	if _, err := format.Text("f.yaml", []byte("a: b: c\n")); err == nil || !strings.Contains(err.Error(), "f.yaml:1:1: not valid YAML") {
		t.Error(err)
	}
}

// widened is a text with every indentation doubled, and lists that begin at the
// column of their field.
func widened(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		out.WriteString(strings.Repeat(" ", 2*(len(line)-len(rest))) + rest)
	}
	return strings.ReplaceAll(out.String(), "- name:", "-   name:")
}

// TestRevisionStays: formatting any document of the repository, as it is or laid out
// in another way, changes no revision, and a second time nothing.
func TestRevisionStays(t *testing.T) {
	t.Parallel()
	seen, of := 0, results{map[string]formatted{}, map[string]loaded{}}
	for _, folder := range []string{"../../policies", "../../policy-tests", "../../examples", "../../cmd/edict/testdata", "../compile/testdata"} {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			seen += of.same(t, file, string(text))
			if wide := widened(string(text)); isYAML(wide) {
				seen += of.same(t, file, wide)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Errorf("%d policies were formatted", seen)
	}
}

// isYAML reports whether a text is valid: to widen it may have broken it.
func isYAML(text string) bool {
	for in := yaml.NewDecoder(strings.NewReader(text)); ; {
		if err := in.Decode(&yaml.Node{}); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// results are what texts come to. Most that are laid out in another way come to a text that
// was seen before.
type results struct {
	formatted map[string]formatted
	loaded    map[string]loaded
}

type formatted struct {
	text string
	err  error
}

// loaded are the revisions of the policies of a text.
type loaded struct {
	revisions []string
	problems  bool
}

func (r results) format(file, text string) (string, error) {
	f, known := r.formatted[text]
	if !known {
		out, err := format.Text(file, []byte(text))
		f = formatted{string(out), err}
		r.formatted[text] = f
	}
	return f.text, f.err
}

func (r results) load(file, text string) loaded {
	l, known := r.loaded[text]
	if !known {
		found, problems := load.Documents(file, []byte(text))
		l.problems = len(problems) > 0
		for _, p := range found.Policies {
			l.revisions = append(l.revisions, compile.Revision(p, nil, nil))
		}
		r.loaded[text] = l
	}
	return l
}

// same formats a text, and returns how many policies it has.
func (r results) same(t *testing.T, file, text string) int {
	t.Helper()
	before := r.load(file, text)
	out, err := r.format(file, text)
	if err != nil {
		if !before.problems && len(before.revisions) > 0 {
			t.Error(err)
		}
		return 0
	}
	if again, err := r.format(file, out); err != nil || again != out {
		t.Errorf("%s, a second time: %v\n%s", file, err, cmp.Diff(out, again))
	}
	if diff := cmp.Diff(before.revisions, r.load(file, out).revisions); diff != "" {
		t.Errorf("%s: other revisions (-before +after):\n%s", file, diff)
	}
	return len(before.revisions)
}
