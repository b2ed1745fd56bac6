package packed

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// TestPack: a text comes back, and gives the same bytes again.
func TestPack(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a schema ", 1000))
	first, err := Pack(text)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Pack(text)
	if err != nil || !bytes.Equal(first, second) || len(first) >= len(text) {
		t.Errorf("%d and %d bytes of %d (%v)", len(first), len(second), len(text), err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, text) || !reader.ModTime.IsZero() {
		t.Errorf("%d bytes come back, written at %v (%v)", len(got), reader.ModTime, err)
	}
}
