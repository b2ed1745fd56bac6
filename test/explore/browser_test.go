package explore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// required is the variable that makes a missing browser a failure.
const required = "EDICT_REQUIRE_CHROMIUM"

// browser is the one of all tests, each of which has a tab of its own.
var browser struct {
	tab func() (context.Context, context.CancelFunc)
	err error
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run starts the browser in the folder of the repository, so that paths on the page
// are the same everywhere.
func run(m *testing.M) int {
	if err := os.Chdir("../.."); err != nil {
		browser.err = err
		return m.Run()
	}
	program, err := lookUp()
	if err != nil {
		browser.err = err
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.DisableGPU, chromedp.Flag("force-device-scale-factor", "1"), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.WindowSize(width, height))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	browser.tab = func() (context.Context, context.CancelFunc) { return chromedp.NewContext(ctx) }
	browser.err = chromedp.Do(ctx)
	return m.Run()
}

func lookUp() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium is installed (on Debian: apt-get install chromium)")
}

// The size of the page, in pixels.
const width, height = 1280, 800

// page is a tab.
type page struct {
	t   *testing.T
	ctx context.Context

	mu sync.Mutex
	// problems are errors and warnings on the console; requests what was asked for.
	problems, requests []string
}

// open opens an address in a tab. When the test ends, the console must be empty, and
// all requests must have gone to this machine.
func open(t *testing.T, address, scheme string) *page {
	t.Helper()
	if browser.err != nil {
		if os.Getenv(required) != "" {
			t.Fatal(browser.err)
		}
		t.Skipf("%v; set %s to fail instead", browser.err, required)
	}
	ctx, end := browser.tab()
	t.Cleanup(end)
	p := &page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	p.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(address))
	p.wait(`document.documentElement.dataset.ready === "true"`)
	t.Cleanup(p.quiet)
	return p
}

func (p *page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		p.problems = append(p.problems, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// quiet checks what the tab has said and asked for.
func (p *page) quiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Errorf("on the console: %s", problem)
	}
	for _, request := range p.requests {
		u, err := url.Parse(request)
		if err != nil || u.Hostname() != "127.0.0.1" && !slices.Contains([]string{"data", "file"}, u.Scheme) {
			p.t.Errorf("a request has left this machine: %s", request)
		}
	}
}

// call runs a command of the DevTools protocol.
func call[P, R any](p *page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	out, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// script runs a script on the page.
func (p *page) script(text string) {
	p.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](text))
}

// wait waits until an expression is true.
func (p *page) wait(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		p.t.Fatalf("%s: %v; the page says:\n%s", expression, err, evaluate[string](p, "document.body.innerText"))
	}
}

// evaluate returns the value of an expression on the page.
func evaluate[T any](p *page, expression string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// visit goes to a view, by the part of the address after #, and waits for it.
func (p *page) visit(where string) {
	p.t.Helper()
	p.script(fmt.Sprintf("delete document.getElementById('main-view').dataset.shown; location.hash = %q", where))
	view := "why"
	if fields, err := url.ParseQuery(where); err == nil && fields.Get("view") != "" {
		view = fields.Get("view")
	}
	p.settled(view)
}

// settled waits for a view.
func (p *page) settled(view string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`(() => { const v = document.getElementById("main-view"); return v.dataset.shown === %q && !v.matches("[aria-busy], :has([aria-busy])"); })()`, view))
}

// text returns what an element says.
func (p *page) text(selector string) string {
	p.t.Helper()
	return evaluate[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// says checks that an element says something.
func (p *page) says(selector string, texts ...string) {
	p.t.Helper()
	got := p.text(selector)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			p.t.Errorf("%s does not say %q:\n%s", selector, text, got)
		}
	}
}

// focus puts the focus on an element.
func (p *page) focus(selector string) {
	p.t.Helper()
	p.script(fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

// press presses keys one after the other. A key is one event with its text, so that
// a page that handles it keeps it from being typed, as with a real keyboard.
func (p *page) press(keys string) {
	p.t.Helper()
	for _, r := range keys {
		for _, event := range kb.Encode(r) {
			switch event.Type {
			case kb.KeyChar:
				continue
			case kb.KeyDown:
				event.Text = kb.Keys[r].Text
			}
			call(p, input.DispatchKeyEvent, *event)
		}
	}
}
