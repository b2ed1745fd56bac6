package main

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// TestPrintFailures: a write that is refused, its tries and the rule that sees the refusal are
// one error.
func TestPrintFailures(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	failed := func(name, message string) simulate.Error {
		return simulate.Error{At: at, Policy: "p", Key: eval.Key{Name: name}, Message: message}
	}
	const write = `rule "child copy": writing ConfigMap a/b: ConfigMap "b" not found`
	const seen = `rule "child copy": p/p.yaml:7:7: ConfigMap a/b: the API server refuses it: ConfigMap "b" not found`
	var out strings.Builder
	printFailures(&out, simulate.Result{Start: at, Errors: []simulate.Error{
		failed("x", write), failed("x", seen), failed("x", seen), failed("y", seen), failed("x", write+"\n"+write), failed("x", seen+"\n"+seen), failed("x", `rule "r": p.yaml:1:2: other`),
	}})
	want := "\nerror at +0s, p x (3 times):\n  " + write +
		"\n\nerror at +0s, p y:\n  " + seen +
		"\n\nerror at +0s, p x (2 times):\n  " + write + "\n  " + write +
		"\n\nerror at +0s, p x:\n  " + `rule "r": p.yaml:1:2: other` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
