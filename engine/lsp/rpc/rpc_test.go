package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/lsp/rpc"
)

// TestRoundTrip reads what was written, also with letters of several bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := rpc.New(&b, &b)
	for range 2 {
		if err := c.Write(&rpc.Message{ID: []byte("1"), Method: "m", Params: []byte(`"ä€"`)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		m, err := c.Read()
		if err != nil || m.Method != "m" || string(m.Params) != `"ä€"` {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestWrongFrames are errors, and take no memory for what is not there.
func TestWrongFrames(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no length": "A: b\r\n\r\n{}", "no number": "Content-Length: x\r\n\r\n{}", "a large one": "Content-Length: 99999999999\r\n\r\n{}",
		"too short": "Content-Length: 9\r\n\r\n{}", "no JSON": "Content-Length: 2\r\n\r\nxx", "no header": "xx",
	} {
		if m, err := rpc.New(strings.NewReader(text), nil).Read(); err == nil || errors.Is(err, io.EOF) && name != "too short" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
