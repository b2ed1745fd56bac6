// Package packed compresses the files that the programs under hack write for the engine
// to embed.
package packed

import (
	"bytes"
	"compress/gzip"
)

// Pack compresses a text as gzip does, with a header that has neither a time nor a name,
// so that the same text gives the same bytes.
func Pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
