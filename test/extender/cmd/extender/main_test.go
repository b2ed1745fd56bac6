package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	builtin "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// asProgram makes the test binary be the program.
const asProgram = "EXTENDER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// TestProgram starts the program, asks it, and tells it to stop.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	capacity := filepath.Join(dir, "capacity.json")
	if err := os.WriteFile(capacity, []byte(`[{"name":"a","thinPoolName":"t","size":100,"used":10}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	program := exec.Command(os.Args[0], "--generate-certs", dir, "--capacity", capacity)
	program.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	program.Stderr = &stderr
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Process.Kill() }() // it has ended, unless the test fails
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok || !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatalf("got %q, %v; %s", line, err, &stderr)
	}
	score(t, builtin.Config{
		URL: url, CAFile: filepath.Join(dir, "ca.crt"), CertFile: filepath.Join(dir, "client.crt"), KeyFile: filepath.Join(dir, "client.key"),
	})
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	if err := program.Wait(); err != nil || len(rest) > 0 || stderr.Len() > 0 {
		t.Errorf("ended with %v, and said %q and %q", err, rest, &stderr)
	}
}

// score asks for the pool a/t, which must have a score.
func score(t *testing.T, config builtin.Config) {
	t.Helper()
	client, err := builtin.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got, err := client.Answer(t.Context(), &expr.Request{
		Query: builtin.FilterAndScore,
		With: value.FromMap(map[string]value.Value{
			"reservationID": value.OfString("x"), "ttl": value.OfDuration(time.Minute), "size": value.OfInt(50),
		}),
		Candidates: expr.CandidatesOf(value.FromMap(map[string]value.Value{"name": value.OfString("a"), "thinPoolName": value.OfString("t")})),
	})
	if err != nil || len(got.Verdicts) != 1 || got.Verdicts[0] != expr.Kept(5) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestFlags: what cannot be started says why.
func TestFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wrong := filepath.Join(dir, "wrong.json")
	if err := os.WriteFile(wrong, []byte(`[{"size":1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                     "--cert and --key are needed, or --generate-certs",
		"--cert a":                             "--cert and --key are needed, or --generate-certs",
		"--generate-certs d --client-ca a":     "--generate-certs does without --cert, --key and --client-ca",
		"--generate-certs d more":              `unexpected argument "more"`,
		"--nothing":                            "flag provided but not defined",
		"--cert a --key b":                     "reading the server's certificate",
		"--cert a --key b --capacity absent":   "absent",
		"--cert a --key b --capacity " + wrong: "item 0: name is empty",
		"--listen nowhere --generate-certs " + dir: "nowhere",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := run(ctx, strings.Fields(args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, not %s", args, err, want)
		}
	}
}

// TestFilesOfTheCaller: certificates from elsewhere, and clients without one.
func TestFilesOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it stops at once
	if err := run(ctx, []string{"--generate-certs", dir}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	args := []string{"--cert", filepath.Join(dir, "server.crt"), "--key", filepath.Join(dir, "server.key"), "--client-ca", filepath.Join(dir, "ca.crt")}
	if err := run(ctx, args, &stdout, io.Discard); err != nil || !strings.HasPrefix(stdout.String(), "listening on https://127.0.0.1:") {
		t.Errorf("got %v, %q", err, &stdout)
	}
}
