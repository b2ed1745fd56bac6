// Package scaffold makes a new policy of a recipe: its files under another name.
package scaffold

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// File is a file of a recipe, with its path in the folder of the recipe.
type File struct {
	Path string
	Text []byte
}

// Recipe is what a policy may begin as.
type Recipe struct {
	Name string
	// Short says what the policy does, in one line.
	Short string
}

// Recipes lists those in a file system, a folder for each.
func Recipes(files fs.FS) (out []Recipe, err error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(files, path.Join(e.Name(), e.Name()+".yaml"))
		if err != nil {
			return nil, err
		}
		out = append(out, Recipe{e.Name(), short(string(text))})
	}
	return out, nil
}

// short returns the first sentence of the comment at the beginning of a policy.
func short(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		if !strings.HasPrefix(comment, "yaml-language-server") {
			words = append(words, strings.TrimSpace(comment))
		}
	}
	sentence, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	sentence, _, _ = strings.Cut(sentence, ": ")
	return strings.TrimSuffix(sentence, ".")
}

// Make returns the files of a recipe for a policy of another name.
func Make(files fs.FS, recipe, name string) (out []File, err error) {
	err = fs.WalkDir(files, recipe, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(file, recipe+"/")
		if path.Ext(file) == ".yaml" && path.Dir(rel) == "." {
			if text, err = Rename(file, text, recipe, name); err != nil {
				return err
			}
		}
		out = append(out, File{renamedFile(rel, recipe, name), text})
		return nil
	})
	return out, err
}

// renamedFile returns the name of a file that begins with the name of the policy.
func renamedFile(file, from, to string) string {
	rest, ok := strings.CutPrefix(file, from)
	if !ok || rest == "" || rest[0] != '.' && rest[0] != '_' {
		return file
	}
	return to + rest
}

// Rename gives a policy another name in the documents of a file: where it is
// declared, and where tests and allowances refer to it.
func Rename(file string, text []byte, from, to string) ([]byte, error) {
	var problems document.Problems
	r := renaming{from: from, to: to}
	for _, n := range document.ParseUnbounded(file, text, &problems) {
		r.visit(n, nil)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return r.apply(text)
}

// renaming collects the places at which a name stands.
type renaming struct {
	from, to string
	places   []document.Position
}

// visit finds the name in a value; path are the keys that lead to it.
func (r *renaming) visit(n *document.Node, path []string) {
	for i, v := range n.Values {
		at := path
		if n.Kind == document.Map {
			at = append(slices.Clone(path), n.Keys[i].Text)
			if n.Keys[i].Text == r.from && byPolicy(path) {
				r.places = append(r.places, n.Keys[i].Pos)
			}
		}
		r.visit(v, at)
	}
	if n.Kind == document.String && r.refers(n.Text, path) {
		r.places = append(r.places, n.At(0))
	}
}

// byPolicy reports whether the keys of a mapping are names of policies.
func byPolicy(path []string) bool {
	last := len(path) - 1
	return last > 0 && path[0] == "spec" && (path[last] == "params" || path[last] == "remembered") && (last == 1 || path[last-1] == "cases")
}

// refers reports whether a text is the name of the policy, or of its file.
func (r *renaming) refers(text string, path []string) bool {
	where := strings.Join(path, ".")
	if where == "spec.policies" {
		return renamedFile(text, r.from, r.to) != text
	}
	if text != r.from || len(path) == 0 {
		return false
	}
	last := path[len(path)-1]
	return where == "metadata.name" || where == "spec.only" || last == "policy" || last == "edict.dev/policy"
}

// apply writes the new name at the places.
func (r *renaming) apply(text []byte) ([]byte, error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	slices.SortFunc(r.places, func(a, b document.Position) int {
		return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Column, a.Column))
	})
	for _, p := range r.places {
		line := []rune(string(lines[p.Line-1]))
		rest, ok := strings.CutPrefix(strings.TrimLeft(string(line[p.Column-1:]), `"'`), r.from)
		if !ok {
			return nil, fmt.Errorf("%s: the name %s is not written as it is", p, r.from)
		}
		quotes := len(line) - (p.Column - 1) - len([]rune(rest)) - len([]rune(r.from))
		lines[p.Line-1] = []byte(string(line[:p.Column-1+quotes]) + r.to + rest)
	}
	return bytes.Join(lines, nil), nil
}
