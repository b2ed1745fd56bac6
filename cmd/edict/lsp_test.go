package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/lsp/rpc"
)

// TestLSP: the command speaks the protocol over its standard streams.
func TestLSP(t *testing.T) {
	t.Parallel()
	var in, out bytes.Buffer
	editor := rpc.New(&out, &in)
	for _, m := range []*rpc.Message{{ID: []byte("1"), Method: "initialize", Params: []byte("{}")}, {ID: []byte("2"), Method: "shutdown"}, {Method: "exit"}} {
		if err := editor.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	cmd := root()
	cmd.SetArgs([]string{"lsp", "--stdio"})
	cmd.SetIn(&in)
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"completionProvider"`, "null"} {
		m, err := editor.Read()
		if err != nil || m.Error != nil || !strings.Contains(string(m.Result), want) && len(m.Result) > 0 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if got := program(t, "lsp"); got.code != exitFindings || !strings.Contains(got.stderr, "left without a shutdown") {
		t.Errorf("%+v", got)
	}
}
