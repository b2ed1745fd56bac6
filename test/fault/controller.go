package fault

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/edict-dev/edict/test/controlplane"
)

// controller is a process of the built program, behind a proxy of its own.
type controller struct {
	t       testing.TB
	proxy   *proxy
	args    []string
	binary  string
	log     string
	metrics string
	// gone is closed when the process has ended by end, ended is its error.
	gone  chan struct{}
	ended error

	mu      sync.Mutex
	command *exec.Cmd
	// starts counts the processes.
	starts int
	// ending is true after end; otherwise the process is started again, as by a kubelet, when it
	// has lost the lead.
	ending bool
}

// start starts the process, also after end.
func (c *controller) start() {
	c.t.Helper()
	log, err := os.OpenFile(c.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	gone, started := make(chan struct{}), make(chan error, 1)
	c.mu.Lock()
	c.gone, c.ending = gone, false
	c.mu.Unlock()
	go func() {
		defer close(gone)
		defer log.Close()
		runtime.LockOSThread() // the process ends with the thread that has started it
		for {
			command := exec.CommandContext(context.WithoutCancel(c.t.Context()), c.binary, c.args...)
			command.Stdout, command.Stderr = log, log
			command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			c.mu.Lock()
			err, over := error(nil), c.ending
			if !over {
				err = command.Start()
				c.command = command
				c.starts++
			}
			c.mu.Unlock()
			select {
			case started <- err:
			default:
			}
			if over || err != nil {
				return
			}
			c.ended = command.Wait()
			c.mu.Lock()
			if !c.ending && !c.says("leader election lost") && !c.says("may have expired") && !c.says("etcd was restored") {
				c.t.Errorf("%s ended by itself: %v", c.proxy.Name, c.ended)
			}
			c.mu.Unlock()
		}
	}()
	if err := <-started; err != nil {
		c.t.Fatal(err)
	}
}

// process returns the process as it runs now.
func (c *controller) process() *os.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.command.Process
}

// started returns how many processes were started.
func (c *controller) started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts
}

// end returns the process, which is not started again.
func (c *controller) end() *os.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	return c.command.Process
}

// freeze stops the process until thaw, as a machine does that is suspended.
func (c *controller) freeze() {
	c.t.Helper()
	if err := controlplane.Freeze(c.process()); err != nil {
		c.t.Errorf("freezing %s: %v", c.proxy.Name, err)
	}
}

func (c *controller) thaw() {
	c.t.Helper()
	if err := controlplane.Thaw(c.process()); err != nil {
		c.t.Errorf("thawing %s: %v", c.proxy.Name, err)
	}
}

// kill ends the process at once.
func (c *controller) kill() {
	_ = c.end().Kill()
	<-c.gone
}

// stop ends the process as a roll-out does, and returns how long that took.
func (c *controller) stop() time.Duration {
	c.t.Helper()
	began := time.Now()
	if err := c.end().Signal(syscall.SIGTERM); err != nil {
		c.t.Errorf("stopping %s: %v", c.proxy.Name, err)
	}
	select {
	case <-c.gone:
		if c.ended != nil {
			c.t.Errorf("%s ended with %v\n%s", c.proxy.Name, c.ended, c.tail())
		}
	case <-time.After(time.Minute):
		c.t.Errorf("%s did not end within a minute", c.proxy.Name)
		c.kill()
	}
	return time.Since(began)
}

// tail is the end of the log.
func (c *controller) tail() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// gauge reads a metric without labels, or the sum over all series of one.
func (c *controller) gauge(ctx context.Context, name string) (sum float64, ok bool) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.metrics+"/metrics", nil)
	if err != nil {
		return 0, false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, false
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil || families[name] == nil {
		return 0, false
	}
	for _, m := range families[name].GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
	}
	return sum, true
}

// leads reports whether the process leads.
func (c *controller) leads(ctx context.Context) bool {
	v, ok := c.gauge(ctx, "edict_leader")
	return ok && v == 1
}

// kubeconfig writes one that names a proxy.
func kubeconfig(t testing.TB, name, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: c\n", url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := controlplane.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// says reports whether the log has a text.
func (c *controller) says(text string) bool {
	log, err := os.ReadFile(c.log)
	return err == nil && strings.Contains(string(log), text)
}
