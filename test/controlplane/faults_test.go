package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestFaultsOfTheAPIServer(t *testing.T) {
	plane, c := startPlane(t, Options{})
	checkAnswers(t, c, true)

	if err := plane.PauseAPIServer(); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, c, false)
	if err := plane.ResumeAPIServer(); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, c, true)

	if err := plane.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, c, false)
	if pid := plane.APIServerPID(); pid != 0 {
		t.Errorf("the process number while stopped is %d", pid)
	}
	if err := plane.PauseAPIServer(); err == nil {
		t.Error("a stopped API server was paused")
	}
}

func checkAnswers(t *testing.T, c client.Client, want bool) {
	t.Helper()
	timeout := 300 * time.Millisecond
	if want {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := c.List(ctx, &corev1.NodeList{}); (err == nil) != want {
		t.Errorf("an answer is expected: %t; the error is %v", want, err)
	}
}

func TestFailedStartShowsTheLogAndLeavesNothing(t *testing.T) {
	Require(t)
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Start(t.Context(), Options{APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("the error does not show the component's log: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "edict-controlplane-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	checkGone(t, filepath.Join(os.TempDir(), "edict-controlplane-"))
}
