package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// speller finds what an API server would refuse or drop in the objects of a test: a test
// that relies on it shows nothing.
type speller struct{ schemas *schema.Set }

// world checks the objects of the world, of which some are written in the test.
func (s speller) world(objects []simulate.Object, lists ...[]*document.Node) error {
	for _, o := range objects {
		if err := s.object(o); err != nil {
			id := simulate.ID(o)
			return fmt.Errorf("%sthe world's %s %s %w", written(id, slices.Concat(lists...)), id.Kind(), id.Name(), err)
		}
	}
	return nil
}

// written returns where an object is written in a test; "" for one of another file.
func written(id simulate.Identity, list []*document.Node) string {
	for _, n := range list {
		if o, err := object(n); err == nil && simulate.ID(o) == id {
			return n.Pos.String() + ": "
		}
	}
	return ""
}

// written checks an object, or a part of one, as a step writes it.
func (s speller) written(n *document.Node, o simulate.Object) error {
	if err := s.object(o); err != nil {
		id := simulate.ID(o)
		return fmt.Errorf("%s: the %s %s %w", n.Pos, id.Kind(), id.Name(), err)
	}
	return nil
}

// counted is written for an object with numbers in the place of values.
func (s speller) counted(n *document.Node, o simulate.Object) error {
	bare, _ := withoutNumbers(o).(simulate.Object)
	return s.written(n, bare)
}

func withoutNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = withoutNumbers(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = withoutNumbers(x)
		}
		return out
	case int64:
		return nil
	}
	return v
}

// object returns what is wrong with an object, or a part of one. Of a kind without a
// schema nothing is known.
func (s speller) object(o simulate.Object) error {
	gvk := simulate.ID(o).GVK()
	if err := s.kind(gvk); err != nil {
		return err
	}
	if t, known := s.schemas.Kind(gvk); known {
		return schema.Checker{Unknown: func(t *schema.Type, name, path string) error {
			return fmt.Errorf("has %s, which the kind has not%s", path, document.Hinted(name, t.FieldNames()))
		}}.Check(t, o)
	}
	return nil
}

// kind returns an error for a kind that a group of Kubernetes itself does not have, or
// that is spelt as one of which a schema is known: of other groups there may be more.
func (s speller) kind(gvk schema.GVK) error {
	known := schema.BuiltinKinds(gvk.APIVersion)
	if slices.Contains(known, gvk.Kind) {
		return nil
	}
	if len(known) == 0 {
		if known = s.schemas.Kinds(gvk.APIVersion); slices.Contains(known, gvk.Kind) || document.DidYouMean(gvk.Kind, known) == "" {
			return nil
		}
	}
	return fmt.Errorf("is of a kind that %s has not%s", gvk.APIVersion, document.Hinted(gvk.Kind, known))
}

// absent returns an error for an object that nothing can be, or that is there under its
// full name.
func (s speller) absent(id simulate.Identity, world []simulate.Object) error {
	if err := s.kind(id.GVK()); err != nil {
		return err
	}
	r, known := s.schemas.Resource(id.GVK())
	if known && !r.Namespaced && id.Namespace() != "" {
		return fmt.Errorf("has the namespace %s: no object of the kind has one", id.Namespace())
	}
	if id.Namespace() != "" {
		return nil
	}
	for _, o := range world {
		if got := simulate.ID(o); got.GVK() == id.GVK() && got.Name() == id.Name() {
			return fmt.Errorf("needs a namespace: there is one in %s", got.Namespace())
		}
	}
	return nil
}

// Start has the objects, time and answers with which a case of a policy test begins.
type Start struct {
	Objects []simulate.Object
	// Answers are the answers of builtins, or nil.
	Answers expr.Answerer
	Now     time.Time
}

// Begin returns the start of a case of a file, or nil if the file is no policy test. The name
// may be empty if there is one case.
func Begin(path, name string) (*Start, error) {
	files, err := load.Files(path)
	if err != nil || len(files) != 1 || files[0].Path != path {
		return nil, nil //nolint:nilerr // it is a folder, or its reader says what is wrong
	}
	found, problems := load.Documents(path, files[0].Text)
	if len(found.Tests) == 0 {
		return nil, nil
	}
	if err := document.Join(problems); err != nil {
		return nil, err
	}
	var names []string
	var chosen *caseRun
	for _, t := range found.Tests {
		for i := range t.Spec.Cases {
			c := &t.Spec.Cases[i]
			names = append(names, strconv.Quote(c.Name.Value))
			if name == "" || c.Name.Value == name {
				chosen = &caseRun{runner: &runner{}, file: path, test: t, doc: c}
			}
		}
	}
	if chosen == nil || name == "" && len(names) > 1 {
		return nil, fmt.Errorf("%s is a policy test with the cases %s: name one of them with --case", path, strings.Join(names, ", "))
	}
	if chosen.world, err = chosen.runner.world(path, chosen.test); err != nil {
		return nil, err
	}
	return chosen.begin()
}

// begin returns the objects, time and answers of the beginning of the case.
func (c *caseRun) begin() (out *Start, err error) {
	out = &Start{}
	if out.Objects, err = c.objects(); err != nil {
		return nil, err
	}
	if out.Now, err = c.now(); err != nil {
		return nil, err
	}
	out.Answers, err = scripted(cmp.Or(c.doc.Answers, c.test.Spec.Answers))
	return out, err
}
