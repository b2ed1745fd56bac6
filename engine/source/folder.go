package source

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
)

// read takes in the files at a path. One that is edited need not be on the disk.
func (b *Bundle) read(path string, o Options, problems *document.Problems) error {
	files, err := load.Files(path)
	if _, edited := o.Texts[path]; edited && errors.Is(err, fs.ErrNotExist) {
		files, err = []load.Source{{Path: path}}, nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if b.again(f.Path) || o.Params.FromFile(f.Path) {
			continue
		}
		b.Files++
		if text, edited := o.Texts[f.Path]; edited {
			f.Text = text
		}
		if err := b.file(f, b.parse(f), f.Path == path, problems); err != nil {
			return err
		}
	}
	return nil
}

// again reports whether a file has been read before: a folder and a file in it may both
// be given.
func (b *Bundle) again(path string) bool {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if b.seen[path] {
		return true
	}
	b.seen[path] = true
	return false
}

// file takes in what one file holds. What is skipped of it is a problem only if the
// file itself was given.
func (b *Bundle) file(f load.Source, p *parsed, given bool, problems *document.Problems) error {
	problems.Append(p.problems)
	b.take(&p.manifests)
	found := p.file
	b.Skipped += len(found.Skipped)
	if given && !p.manifest {
		problems.Append(found.Skipped)
	}
	b.Tests = append(b.Tests, found.Tests...)
	b.allow(found)
	if len(found.Policies) == 0 {
		return nil
	}
	modules, err := Modules(f.Path)
	for _, doc := range found.Policies {
		b.Units = append(b.Units, &Unit{Document: doc, File: f, Modules: modules})
	}
	return err
}

// take takes in the ConfigMaps and PolicySets of a file.
func (b *Bundle) take(m *manifests) {
	b.configMaps = append(b.configMaps, m.configMaps...)
	b.sets = append(b.sets, m.sets...)
	maps.Copy(b.inside, m.inside)
}

// Modules reads the Rego files that belong to a policy's file: those beside it
// that have its name, alone or with _ and more after it.
func Modules(file string) (out []rego.Module, err error) {
	base := strings.TrimSuffix(file, filepath.Ext(file))
	more, err := filepath.Glob(escapeGlob(base) + "_*.rego")
	if err != nil {
		return nil, err
	}
	for _, path := range append([]string{base + ".rego"}, more...) {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, rego.Module{Name: path, Text: string(text)})
	}
	return out, nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// AllowanceFile is the file beside policies that says what they may do of what
// is protected.
const AllowanceFile = "allowances.yaml"

// allowBeside reads the allowances beside policies that are given by themselves: those
// of each folder once, and none that are given, too.
func (b *Bundle) allowBeside(paths []string, o Options, problems *document.Problems) error {
	done := map[string]bool{}
	for _, path := range paths {
		done[filepath.Clean(path)] = true
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if _, edited := o.Texts[path]; err != nil && !edited {
			return err
		}
		file := filepath.Join(filepath.Dir(path), AllowanceFile)
		if err == nil && info.IsDir() || done[file] {
			continue
		}
		done[file] = true
		if err := b.allowIn(file, o, problems); err != nil {
			return err
		}
	}
	return nil
}

// allowIn reads the allowances of a file, if there is one.
func (b *Bundle) allowIn(file string, o Options, problems *document.Problems) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if edited, ok := o.Texts[file]; ok {
		text = edited
	}
	found, wrong := load.Documents(file, text)
	problems.Append(wrong)
	b.allow(found)
	return nil
}

func (b *Bundle) allow(found load.File) {
	for _, a := range found.Allowances {
		b.Allowances = append(b.Allowances, a.Spec.Allow...)
	}
}

// LoadAllowances reads what an installation opens: files, and single allowances
// as flow YAML or JSON.
func LoadAllowances(files, single []string) ([]v1alpha1.Allowance, error) {
	var b Bundle
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := b.allowText(file, text); err != nil {
			return nil, err
		}
	}
	for _, one := range single {
		document := "apiVersion: " + v1alpha1.APIVersion + "\nkind: " + v1alpha1.KindAllowances + "\nmetadata: {name: flag}\nspec:\n  allow:\n    - " + strings.ReplaceAll(one, "\n", "\n      ")
		if err := b.allowText("--allow", []byte(document)); err != nil {
			return nil, err
		}
	}
	return b.Allowances, nil
}

func (b *Bundle) allowText(name string, text []byte) error {
	found, wrong := load.Documents(name, text)
	b.allow(found)
	return document.Join(wrong)
}

// schemas adds the CRDs of the folders given, and of those beside the paths.
func (b *Bundle) schemas(paths, given []string) error {
	for _, folder := range given {
		if _, err := os.Stat(folder); err != nil {
			return err
		}
	}
	var folders []string
	for _, folder := range append(slices.Clone(given), besideAll(paths)...) {
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return b.schemasOf(folders)
}

func besideAll(paths []string) (out []string) {
	for _, path := range paths {
		out = append(out, beside(path)...)
	}
	return out
}

// beside returns the schema folders that belong to a path.
func beside(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return []string{filepath.Join(filepath.Dir(path), load.SchemaFolder)}
	}
	out := []string{filepath.Join(path, load.SchemaFolder)}
	_ = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error { // what cannot be read has no policies either
		schemas := err == nil && entry.Name() == load.SchemaFolder && p != path && isFolder(p)
		if schemas && p != out[0] {
			out = append(out, p)
		}
		if schemas && entry.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return out
}

// isFolder reports whether a path is a folder, or a symbolic link to one.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
