package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/edict-dev/edict/hack/packed"
)

// writeFile writes the schemas, unless the file has them already: another
// version of Go may compress the same text to other bytes, and that is no
// reason for a change of a committed file.
func writeFile(path string, schemas map[string]any) error {
	text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
	if err != nil {
		return err
	}
	if old, err := readFile(path); err == nil && bytes.Equal(old, text) {
		fmt.Fprintf(os.Stderr, "%s is up to date (%d schemas)\n", path, len(schemas))
		return nil
	}
	small, err := packed.Pack(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d schemas, %d bytes, %d compressed\n", path, len(schemas), len(text), len(small))
	return os.WriteFile(path, small, 0o644)
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
