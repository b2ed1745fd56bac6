package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// splitTypes counts the types of a package whose methods are in several files.
func splitTypes(files []*file) (n int) {
	in := map[string]map[*file]bool{}
	for _, f := range files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || len(fn.Recv.List) == 0 {
				continue
			}
			name := receiver(fn.Recv.List[0].Type)
			if in[name] == nil {
				in[name] = map[*file]bool{}
			}
			in[name][f] = true
		}
	}
	for _, of := range in {
		if len(of) > 1 {
			n++
		}
	}
	return n
}

// receiver returns the name of the type of a receiver.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	default:
		return ""
	}
}

// loopedFiles counts the files of a package that refer to each other in a loop.
func loopedFiles(files []*file) (n int) {
	declares := map[string]*file{}
	for _, f := range files {
		for _, name := range declared(f.syntax) {
			declares[name] = f
		}
	}
	to := map[*file]map[*file]bool{}
	for _, f := range files {
		to[f] = map[*file]bool{}
		for name := range mentioned(f.syntax) {
			if other := declares[name]; other != nil && other != f {
				to[f][other] = true
			}
		}
	}
	for _, f := range files {
		if reaches(to, f, f, map[*file]bool{}) {
			n++
		}
	}
	return n
}

// reaches reports whether a way of at least one reference leads from a file to another.
func reaches(to map[*file]map[*file]bool, from, target *file, seen map[*file]bool) bool {
	for next := range to[from] {
		if next == target {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(to, next, target, seen) {
				return true
			}
		}
	}
	return false
}

// declared returns the names that a file declares for its package, without methods.
func declared(f *ast.File) (out []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" && d.Name.Name != "_" {
				out = append(out, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						out = append(out, name.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "_" })
}

// mentioned returns the names in a file that may be those of its package: no selectors, no
// names of fields, and no names that a declaration introduces itself.
func mentioned(f *ast.File) map[string]bool {
	out := map[string]bool{}
	for _, d := range f.Decls {
		m := mentions{names: map[string]bool{}, local: map[string]bool{}}
		ast.Inspect(d, m.visit)
		for name := range m.names {
			if !m.local[name] && name != "_" {
				out[name] = true
			}
		}
	}
	return out
}

// mentions are the names in a declaration, and those that it introduces.
type mentions struct{ names, local map[string]bool }

func (m *mentions) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.SelectorExpr:
		ast.Inspect(node.X, m.visit)
		return false
	case *ast.KeyValueExpr:
		if _, ok := node.Key.(*ast.Ident); ok { // mostly a field
			ast.Inspect(node.Value, m.visit)
			return false
		}
	case *ast.Field:
		for _, name := range node.Names {
			m.local[name.Name] = true
		}
	case *ast.AssignStmt:
		m.assign(node)
	case *ast.Ident:
		m.names[node.Name] = true
	}
	return true
}

// assign notes the names that a short variable declaration introduces.
func (m *mentions) assign(node *ast.AssignStmt) {
	if node.Tok != token.DEFINE {
		return
	}
	for _, left := range node.Lhs {
		if id, ok := left.(*ast.Ident); ok {
			m.local[id.Name] = true
		}
	}
}
