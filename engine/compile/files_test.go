package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nothing imports packages without their contents: what is looked for is in this
// package.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// sources are the files of this package.
type sources struct {
	set   *token.FileSet
	files []*ast.File
	info  types.Info
	pkg   *types.Package
}

func parsed(t *testing.T) *sources {
	t.Helper()
	s := &sources{set: token.NewFileSet(), info: types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	config := types.Config{Importer: nothing{}, Error: func(error) {}} // imports are empty, so much is undefined
	s.pkg, _ = config.Check("compile", s.set, s.files, &s.info)
	return s
}

// at returns the file that a position is in.
func (s *sources) at(pos token.Pos) string { return s.set.Position(pos).Filename }

// uses returns what each file uses of others.
func (s *sources) uses() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for id, o := range s.info.Uses {
		if o.Pkg() != s.pkg || !o.Pos().IsValid() {
			continue
		}
		if from, to := s.at(id.Pos()), s.at(o.Pos()); from != to {
			if out[from] == nil {
				out[from] = map[string]bool{}
			}
			out[from][to] = true
		}
	}
	return out
}

// receiver returns the name of the type that a function is a method of.
func receiver(d ast.Decl) string {
	fn, ok := d.(*ast.FuncDecl)
	if !ok || fn.Recv == nil {
		return ""
	}
	return strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")
}

// TestFilesUseOneAnotherOneWay: the files of this package form layers, from
// compile.go over the sections down to scope and findings. A file that uses one
// which uses it belongs into it, or needs a function that it is given.
func TestFilesUseOneAnotherOneWay(t *testing.T) {
	t.Parallel()
	uses := parsed(t).uses()
	if len(uses["compile.go"]) == 0 {
		t.Fatal("compile.go uses no other file")
	}
	var visit func(file string, path []string)
	done := map[string]bool{}
	visit = func(file string, path []string) {
		if at := slices.Index(path, file); at >= 0 {
			t.Errorf("files use one another in a circle: %s -> %s", strings.Join(path[at:], " -> "), file)
			return
		}
		if done[file] {
			return
		}
		for next := range uses[file] {
			visit(next, append(slices.Clone(path), file))
		}
		done[file] = true
	}
	for file := range uses {
		visit(file, nil)
	}
}

// TestReceiversAreSmall: a type with very many methods is several types whose
// dependencies nobody sees.
func TestReceiversAreSmall(t *testing.T) {
	t.Parallel()
	const most = 20
	methods := map[string]int{}
	for _, f := range parsed(t).files {
		for _, d := range f.Decls {
			if of := receiver(d); of != "" {
				methods[of]++
			}
		}
	}
	for of, n := range methods {
		if n > most {
			t.Errorf("%s has %d methods, at most %d are allowed", of, n, most)
		}
	}
}

// sectionTypes compile parts of a policy.
var sectionTypes = []string{
	"params", "constants", "kinds", "objects", "inputs", "naming", "variables", "modules", "order", "rules", "actions", "targets", "manifests", "selections", "selection",
	"steps", "limits", "metrics",
}

// TestSectionsKeepTheirFields: the fields of a section are read in its methods, in
// its file and by what connects the sections, so that what depends on it is seen in
// signatures.
func TestSectionsKeepTheirFields(t *testing.T) {
	t.Parallel()
	s, found := parsed(t), map[string]bool{}
	for _, f := range s.files {
		if s.at(f.Pos()) == "sections.go" {
			continue
		}
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok || s.info.Selections[selector] == nil || s.info.Selections[selector].Kind() != types.FieldVal {
					return true
				}
				of := s.info.Selections[selector].Recv().String()
				of = of[strings.LastIndex(of, ".")+1:]
				found[of] = true
				if slices.Contains(sectionTypes, of) && receiver(d) != of && s.at(s.pkg.Scope().Lookup(of).Pos()) != s.at(d.Pos()) {
					t.Errorf("%s reads the field %s of %s", s.set.Position(selector.Pos()), selector.Sel.Name, of)
				}
				return true
			})
		}
	}
	for _, of := range sectionTypes {
		if !found[of] {
			t.Errorf("no field of %s is read: is there such a section?", of)
		}
	}
}
