package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// code is the Go code of a repository.
type code struct {
	fset      *token.FileSet
	packages  map[string][]*file
	lines     int
	bodyLines int
	testLines int
}

// file is a file of the product code.
type file struct {
	path   string
	syntax *ast.File
}

// readCode reads the Go files of a repository, without those of other modules.
func readCode(root string) (*code, error) {
	c := &code{fset: token.NewFileSet(), packages: map[string][]*file{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(root, path)
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		return c.add(root, path)
	})
	return c, err
}

// skip returns fs.SkipDir for folders without code of the main module.
func skip(root, path string) error {
	name := filepath.Base(path)
	if path == root {
		return nil
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") {
		return fs.SkipDir
	}
	return nil
}

func (c *code) add(root, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(c.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	switch {
	case ast.IsGenerated(syntax):
	case strings.HasSuffix(path, "_test.go"):
		c.testLines += codeLines(text)
	case isProduct(filepath.ToSlash(relative)):
		lines := codeLines(text)
		c.lines += lines
		c.bodyLines += lines - c.headLines(syntax, text)
		folder := filepath.Dir(path)
		c.packages[folder] = append(c.packages[folder], &file{path, syntax})
	}
	return nil
}

// headLines counts the lines of code of the package clause and the import declarations.
func (c *code) headLines(f *ast.File, text []byte) int {
	n := 1
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			n += codeLines(text[c.fset.Position(d.Pos()).Offset:c.fset.Position(d.End()).Offset])
		}
	}
	return n
}

// isProduct reports whether a file, by its slash-separated path, is one of the product.
func isProduct(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return !slices.Contains([]string{"test", "hack", "docs", "examples"}, top)
}

// codeLines counts the lines of a Go text with at least one token that is no comment.
func codeLines(text []byte) int {
	fset := token.NewFileSet()
	f := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, 0) // comments are skipped
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := f.Line(pos)
		for i := range 1 + bytes.Count([]byte(literal), []byte("\n")) {
			lines[first+i] = true
		}
	}
}

// sizes returns the sizes of the code by name.
func (c *code) sizes() map[string]int {
	sizes := map[string]int{"code-lines": c.lines, "body-lines": c.bodyLines, "test-lines": c.testLines, "packages": len(c.packages)}
	var functions []int
	for _, files := range c.packages {
		sizes["files"] += len(files)
		sizes["split-types"] += splitTypes(files)
		sizes["looped-files"] += loopedFiles(files)
		for _, f := range files {
			sizes["mutexes"] += mutexes(f.syntax)
			functions = append(functions, c.functions(f.syntax)...)
		}
	}
	if slices.Sort(functions); len(functions) > 0 {
		sizes["function-p90"] = functions[len(functions)*9/10]
	}
	return sizes
}

// functions returns the lines of each function of a file.
func (c *code) functions(f *ast.File) (out []int) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out = append(out, c.fset.Position(fn.End()).Line-c.fset.Position(fn.Pos()).Line+1)
		}
	}
	return out
}

// mutexes counts the fields and variables of a file that are mutexes.
func mutexes(f *ast.File) (n int) {
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			if isMutex(node.Type) {
				n += max(1, len(node.Names))
			}
		case *ast.ValueSpec:
			if isMutex(node.Type) {
				n += len(node.Names)
			}
		}
		return true
	})
	return n
}

func isMutex(of ast.Expr) bool {
	s, ok := of.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "sync" && (s.Sel.Name == "Mutex" || s.Sel.Name == "RWMutex")
}
