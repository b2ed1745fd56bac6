package load

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is a file that was read.
type Source struct {
	Path string
	Text []byte
}

// Files reads the YAML and JSON files at a path: the file itself, or those of
// the folder and its sub-folders, in the order of their names. Folders named
// schemas, whose CRDs are not documents of ours, are passed over, and so are links in a
// folder, but for those of a mounted ConfigMap. A folder without any such file is an error.
func Files(path string) ([]Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return read([]string{path})
	}
	var paths []string
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		path += string(filepath.Separator) // else the link itself is looked at
	}
	err = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && p != path && (entry.Name() == SchemaFolder || strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if isDocument(entry) && (entry.Type()&fs.ModeSymlink == 0 || mounted(p)) {
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errEmpty}
	}
	slices.Sort(paths)
	return read(paths)
}

// dataFolder is where the kubelet puts the files of a volume: those of the volume itself
// are links into it, and it is a link too, so that all of them change at once.
const dataFolder = "..data"

// mounted reports whether a link is a file of a volume made of a ConfigMap, Secret or
// projection. Any other may lead out of the folder, which may be somebody else's.
func mounted(link string) bool {
	target, err := os.Readlink(link)
	if err != nil || filepath.Dir(target) != dataFolder {
		return false
	}
	file, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(link))
	if err != nil {
		return false
	}
	inside, err := filepath.Rel(folder, file)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// SchemaFolder is the folder beside policies that holds CRDs of the kinds
// they speak of.
const SchemaFolder = "schemas"

type emptyFolder struct{}

func (emptyFolder) Error() string { return "no .yaml, .yml or .json file in this folder" }

var errEmpty = emptyFolder{}

func isDocument(entry fs.DirEntry) bool {
	switch filepath.Ext(entry.Name()) {
	case ".yaml", ".yml", ".json":
		return !entry.IsDir()
	}
	return false
}

func read(paths []string) ([]Source, error) {
	out := make([]Source, len(paths))
	for i, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		out[i] = Source{Path: p, Text: text}
	}
	return out, nil
}
