package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/edict-dev/edict/engine/source"
)

// policyFiles returns the files of the policy, relative to that of the test. A
// policy from a ConfigMap is written beside the test.
func (f *captureFlags) policyFiles(u *source.Unit) ([]string, error) {
	folder := filepath.Dir(f.file)
	if u.Set == "" {
		path, err := relative(folder, u.File.Path)
		return []string{path}, err
	}
	if f.file == "" {
		return nil, found("the policy is in a ConfigMap: with --out FILE its text is written beside the test")
	}
	beside := besides{folder: folder, test: filepath.Base(f.file)}
	name := filepath.Base(u.File.Path)
	if err := beside.add(name, u.File.Text); err != nil {
		return nil, err
	}
	for _, m := range u.Modules {
		if err := beside.add(filepath.Base(m.Name), []byte(m.Text)); err != nil {
			return nil, err
		}
	}
	return []string{name}, beside.write()
}

// besides are the files that are written beside a test. Their names and texts are
// those of a ConfigMap, so that none of them replaces a file.
type besides struct {
	folder, test string
	files        []besideFile
}

type besideFile struct {
	path string
	text []byte
}

// add takes a file, unless that would replace another one. One that is there with the
// same content needs no writing.
func (b *besides) add(name string, text []byte) error {
	path := filepath.Join(b.folder, name)
	if strings.EqualFold(name, b.test) {
		return found("%s would be the test and the text of the policy: give --out another name", path)
	}
	for _, other := range b.files {
		if strings.EqualFold(other.path, path) && !bytes.Equal(other.text, text) {
			return found("the ConfigMap has two different texts for %s: rename one of its keys", path)
		}
	}
	same, err := sameFile(path, text)
	if err != nil || same {
		return err
	}
	b.files = append(b.files, besideFile{path, text})
	return nil
}

func (b *besides) write() error {
	for _, f := range b.files {
		if err := createFile(f.path, f.text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether a file has a content. That it is there with another one is
// an error.
func sameFile(path string, text []byte) (bool, error) {
	exists, err := regular(path)
	if err != nil || !exists {
		return false, err
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(have, text) {
		return false, found("%s exists with another content and is not overwritten: move it away, or give --out another folder", path)
	}
	return true, nil
}

// regular reports whether there is a file. A symbolic link, or what else is no regular
// file, is an error: whoever writes to it changes something else.
func regular(path string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, found("%s is not a regular file and is not written to: give --out another name or folder", path)
	}
	return true, nil
}

// writeTest writes the test. It may replace one that was captured before.
func writeTest(path string, text []byte) error {
	if _, err := regular(path); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func relative(folder, path string) (string, error) {
	from, err := filepath.Abs(folder)
	to, wrong := filepath.Abs(path)
	if err := errors.Join(err, wrong); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}
