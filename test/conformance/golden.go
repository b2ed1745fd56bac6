package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// golden is the file with the answers of a real server.
const golden = "testdata/answers.jsonl.gz"

// record is what a scenario's requests were answered.
type record struct {
	Name    string   `json:"name"`
	Answers []answer `json:"answers"`
}

func readRecords() (map[string]record, error) {
	file, err := os.Open(golden)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", golden, err)
	}
	out := map[string]record{}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", golden, err)
		}
		out[r.Name] = r
	}
	return out, lines.Err()
}

func writeRecords(records []record) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, string(text)+"\n"); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(golden, packed.Bytes(), 0o644)
}
