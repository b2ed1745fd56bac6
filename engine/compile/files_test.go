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

// sources returns the files of this package, and what each uses of others.
func sources(t *testing.T) (files []*ast.File, uses map[string]map[string]bool) {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}} // imports are empty, so much is undefined
	pkg, _ := config.Check("compile", set, files, info)
	uses = map[string]map[string]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		from, to := set.Position(id.Pos()).Filename, set.Position(o.Pos()).Filename
		if from != to {
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
	}
	return files, uses
}

// TestFilesUseOneAnotherOneWay: the files of this package form layers, from
// compile.go over the sections down to scope and findings. A file that uses one
// which uses it belongs into it, or needs a function that it is given.
func TestFilesUseOneAnotherOneWay(t *testing.T) {
	t.Parallel()
	_, uses := sources(t)
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
	files, _ := sources(t)
	methods := map[string]int{}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				of := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")
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
