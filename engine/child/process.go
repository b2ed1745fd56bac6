package child

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

// process is a running child.
type process struct {
	cmd  *exec.Cmd
	in   *os.File // to it
	out  *os.File // from it
	send *gob.Encoder
	read *gob.Decoder
	// most is what may still be read of the response under way.
	most *io.LimitedReader
	// said is what it wrote to its standard error, ended is closed when it has
	// ended.
	said  *beginning
	ended chan struct{}
	// started is when it was.
	started time.Time
}

// maxResponse bounds a response: a result with its tags, or an outline.
const maxResponse = 8 << 20

// start starts a child.
func start(command []string) (*process, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...) //nolint:gosec // it is this program itself
	p := &process{cmd: cmd, in: in, out: out, said: &beginning{}, ended: make(chan struct{}), started: time.Now()}
	p.cmd.Env, p.cmd.SysProcAttr = []string{}, attributes()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, p.said
	p.most = &io.LimitedReader{R: out}
	p.send, p.read = gob.NewEncoder(in), gob.NewDecoder(p.most)
	err = p.run()
	err = errors.Join(err, stdin.Close(), stdout.Close())
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// run starts the process and has somebody wait for its end: on a thread that
// lives as long, because it is the end of the thread that ends the child.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // its state is read from the command
			close(p.ended)
		}
	}()
	return <-started
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// ask sends a request and waits for the response.
func (p *process) ask(ctx context.Context, r *request, within time.Duration) ([]byte, error) {
	if err := errors.Join(p.in.SetWriteDeadline(time.Time{}), p.out.SetReadDeadline(time.Time{})); err != nil {
		return nil, err
	}
	defer p.watch(ctx, within)()
	if err := p.send.Encode(r); err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	p.most.N = maxResponse
	var out response
	if err := p.read.Decode(&out); err != nil {
		return nil, fmt.Errorf("reading a response: %w", err)
	}
	return out.Out, nil
}

// watch interrupts the wait for a response when the context ends, or when the
// process has taken so much processor time since now: how busy the machine is
// must not decide whether there is an answer. By the clock it waits for far
// longer. The function that it returns ends it.
func (p *process) watch(ctx context.Context, within time.Duration) (stop func()) {
	const most = 12 // times within, by the clock
	before, began := p.spent(), time.Now()
	answered, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for left := within; left > 0 && time.Since(began) < most*within; left = within - (p.spent() - before) {
			select {
			case <-answered:
				return
			case <-ctx.Done():
				p.interrupt()
				return
			case <-time.After(left):
			}
		}
		p.interrupt()
	}()
	return func() { close(answered); <-ended }
}

// interrupt ends what reads from the process and writes to it.
func (p *process) interrupt() {
	_ = errors.Join(p.in.SetWriteDeadline(time.Unix(1, 0)), p.out.SetReadDeadline(time.Unix(1, 0)))
}

// spent is the processor time that the process has taken, user and system; since
// its start by the clock where the system does not tell.
func (p *process) spent() time.Duration {
	if cpu, ok := processorTime(p.pid()); ok {
		return cpu
	}
	return time.Since(p.started)
}

func isLate(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// kill ends the process, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	_ = errors.Join(p.in.Close(), p.out.Close())
}

// greed is what Go's runtime says when it gets no memory. It is not always told
// so: a part of it that gets none may also crash, which is not a panic of Go code.
var greed = []string{
	"out of memory", "cannot allocate memory", "stack exceeds", "stack overflow",
	"SIGSEGV: segmentation violation\nPC=", "unexpected signal during runtime execution", "failed to create new OS thread",
}

// epitaph ends the process, and reports whether it was memory that it lacked,
// and how it ended.
func (p *process) epitaph() (greedy bool, detail string) {
	select {
	case <-p.ended: // by itself
	case <-time.After(time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	said := p.said.String()
	for _, sign := range greed {
		greedy = greedy || strings.Contains(said, sign)
	}
	first, _, _ := strings.Cut(said, "\n")
	if first != "" {
		first = ": " + value.Cut(first, 200)
	}
	return greedy, p.cmd.ProcessState.String() + first
}

// beginning keeps the beginning of what is written to it.
type beginning struct{ kept []byte }

// Write implements io.Writer.
func (t *beginning) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.kept = append(t.kept, b[:min(len(b), most-len(t.kept))]...)
	return len(b), nil
}

// String returns what was kept. It is called when nobody writes any more.
func (t *beginning) String() string { return string(t.kept) }
