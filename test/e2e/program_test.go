package e2e

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain sets the loggers of the libraries, which are those of the process.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	if err := runMore(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// runMore lets more tests run at once than there are processors, unless -parallel
// says how many: most of the time they wait.
func runMore() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
}

// edict runs the program against the cluster, and returns its exit code.
func (c *cluster) edict(binary string, args ...string) (string, int) {
	c.t.Helper()
	return offline(c.t, binary, append(args, "--kubeconfig", c.plane.Kubeconfig())...)
}

// offline runs the program without a cluster, and returns its exit code.
func offline(t *testing.T, binary string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
