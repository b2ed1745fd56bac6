package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// docsWords counts the words of the Markdown below docs, without the generated reference and
// the pages about findings.
func docsWords(root string) (n int, err error) {
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "checks":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".md") || entry.Name() == "reference.md":
			return nil
		}
		text, err := os.ReadFile(path)
		n += len(strings.Fields(string(text)))
		return err
	})
	return n, err
}
