package lsp

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/source"
)

// maxTogether bounds the files of a folder that are checked together. In a folder with
// more, such as one of manifests, a document is checked by itself.
const maxTogether = 300

// stale has a document checked, and after it the others of its folder, of which
// something else may be wrong now.
func (s *Server) stale(t *textOf) {
	var others []string
	for uri, other := range s.open {
		if uri != t.uri && filepath.Dir(other.path) == filepath.Dir(t.path) {
			others = append(others, uri)
		}
	}
	slices.Sort(others)
	for _, uri := range append([]string{t.uri}, others...) {
		if !slices.Contains(s.dirty, uri) {
			s.dirty = append(s.dirty, uri)
		}
	}
}

// refreshOne checks the first of the documents that are to be checked.
func (s *Server) refreshOne() error {
	uri := s.dirty[0]
	s.dirty = s.dirty[1:]
	if t := s.open[uri]; t != nil {
		return s.refresh(t)
	}
	return nil
}

// load compiles a document as the editor has it, with the other policies of its folder.
func (s *Server) load(t *textOf) (*analysis, error) {
	texts := map[string][]byte{}
	for _, other := range s.open {
		texts[other.path] = []byte(other.text)
	}
	texts[t.path] = []byte(t.text)
	folder := filepath.Dir(t.path)
	o := source.Options{Schemas: s.options.Schemas, Descriptions: true, Texts: texts, Cache: s.cache(folder)}
	b, err := source.Load(append([]string{t.path}, beside(t.path)...), o)
	if err != nil { // one of the others cannot be read
		b, err = source.Load([]string{t.path}, o)
	}
	if err != nil {
		return nil, err
	}
	a := &analysis{text: t, bundle: b, others: func(path string) *textOf { return s.text(b, path) }}
	a.problems, a.related = check.About(b, t.path)
	return a, nil
}

// cache returns what is kept of a folder, and drops what is kept of those without an
// open document.
func (s *Server) cache(folder string) *source.Cache {
	used := map[string]bool{folder: true}
	for _, t := range s.open {
		used[filepath.Dir(t.path)] = true
	}
	for other := range s.caches {
		if !used[other] {
			delete(s.caches, other)
		}
	}
	if s.caches[folder] == nil {
		s.caches[folder] = &source.Cache{}
	}
	return s.caches[folder]
}

// beside returns the other documents of a file's folder. Those of the folders below it
// are not, because a document may be opened in the root of a repository.
func beside(path string) (out []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(path), e.Name())
		if e.Type().IsRegular() && other != path && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(other)) {
			out = append(out, other)
		}
	}
	if len(out) > maxTogether {
		return nil
	}
	return out
}

// text returns the text of a file that was loaded.
func (s *Server) text(b *source.Bundle, path string) *textOf {
	for _, t := range s.open {
		if t.path == path {
			return t
		}
	}
	for _, u := range b.Units {
		if u.File.Path == path {
			return newText(uriOf(path), string(u.File.Text))
		}
	}
	text, err := os.ReadFile(path)
	if err != nil { // the place is shown without its word
		text = nil
	}
	return newText(uriOf(path), string(text))
}
