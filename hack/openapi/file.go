package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
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
	packed, err := pack(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d schemas, %d bytes, %d compressed\n", path, len(schemas), len(text), len(packed))
	return os.WriteFile(path, packed, 0o644)
}

// pack compresses with a header that has neither a time nor a name, so that the
// same text gives the same bytes.
func pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
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
