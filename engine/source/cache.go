package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
)

// Cache keeps what [Load] has read and compiled, so that the next one with it repeats
// only what has changed: an editor loads the policies of a folder at each change of one.
// It is for one goroutine, and for the same options but for their Texts. What the last
// Load had no use for is dropped.
type Cache struct {
	parsed   map[string]*parsed
	read     map[manifestPair]*Contents
	compiler *Compiler
	schemas  *schema.Set
	// folders says what the folders with schemas held.
	folders string
}

// manifestPair is a ConfigMap with the set that runs it, which may be nil.
type manifestPair struct {
	set  *Set
	text *ConfigMap
}

// parsed is what a file held.
type parsed struct {
	text []byte
	manifests
	file     load.File
	problems []document.Problem
}

// begin returns an empty cache that takes what it needs from this one. Both may be nil.
func (c *Cache) begin() (next *Cache) {
	if c == nil {
		return nil
	}
	return &Cache{parsed: map[string]*parsed{}, read: map[manifestPair]*Contents{}, compiler: c.compiler, schemas: c.schemas, folders: c.folders}
}

// parse reads a file, unless the cache has what it held.
func (b *Bundle) parse(f load.Source) *parsed {
	if b.old != nil {
		if p := b.old.parsed[f.Path]; p != nil && bytes.Equal(p.text, f.Text) {
			b.cache.parsed[f.Path] = p
			return p
		}
	}
	p := parse(f)
	if b.cache != nil {
		b.cache.parsed[f.Path] = p
	}
	return p
}

// contents reads a ConfigMap, unless the cache has the contents.
func (b *Bundle) contents(s *Set, m *ConfigMap) *Contents {
	pair := manifestPair{s, m}
	var c *Contents
	if b.old != nil {
		c = b.old.read[pair]
	}
	if c == nil {
		c = Read(s, m)
	}
	if b.cache != nil {
		b.cache.read[pair] = c
	}
	return c
}

// parse reads a file: documents, or manifests.
func parse(f load.Source) *parsed {
	var problems document.Problems
	p := &parsed{text: f.Text, manifests: manifestsIn(f, &problems)}
	var wrong []document.Problem
	if p.manifest {
		p.file, wrong = load.Nodes(f.Path, f.Text, p.rest)
	} else {
		p.file, wrong = load.Documents(f.Path, f.Text)
	}
	problems.Append(wrong)
	p.problems = problems.List()
	return p
}

// schemasOf reads the schemas of some folders, unless the cache has them.
func (b *Bundle) schemasOf(folders []string) error {
	now := ""
	if b.cache != nil {
		now = Stamp(folders)
		if b.old.schemas != nil && b.old.folders == now {
			b.Schemas = b.old.schemas
			return nil
		}
	}
	for _, folder := range folders {
		if err := b.Schemas.AddFolder(folder); err != nil {
			return fmt.Errorf("reading schemas: %w", err)
		}
	}
	if b.cache != nil {
		b.cache.schemas, b.cache.folders = b.Schemas, now
	}
	return nil
}

// Stamp says which files are in some folders, or are files themselves, and when they were written.
func Stamp(folders []string) string {
	var out strings.Builder
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if info, failed := os.Stat(folder); failed == nil && !info.IsDir() {
			fmt.Fprintln(&out, info.Size(), info.ModTime().UnixNano())
		}
		fmt.Fprintln(&out, folder, err)
		for _, e := range entries {
			if info, err := os.Stat(filepath.Join(folder, e.Name())); err == nil {
				fmt.Fprintln(&out, e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return out.String()
}
