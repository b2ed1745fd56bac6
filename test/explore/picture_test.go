package explore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	// pictures is where those of the documentation are; they are the golden files.
	pictures = "docs/img"
	// machine has the versions with which they were made.
	machine = "test/explore/testdata/machine.json"
	// maxBytes is how large a picture may be.
	maxBytes = 200 << 10
	// differs is from which difference of a channel a pixel is another one, and
	// perMille how many of a region may be.
	differs, perMille = 48, 5
)

// regions are the parts of the page that are compared by themselves.
var regions = []string{"header.top", "nav.side", ".subject", "#tabs", "#main-view"}

// look is what the look of letters depends on.
type look struct {
	// Chromium is the major version.
	Chromium string `json:"chromium"`
	// Letters are the widths of some texts.
	Letters string `json:"letters"`
}

const letters = `["14px system-ui", "600 14px system-ui", "12.5px ui-monospace, 'DejaVu Sans Mono', monospace"].map((font) => { const c = document.createElement("canvas").getContext("2d"); c.font = font; return ["Quick brown fox 0123", "●○✕✓✗★◆▸◀▶"].map((text) => c.measureText(text).width.toFixed(2)).join(" "); }).join(", ")`

func (p *page) look() look {
	p.t.Helper()
	version := evaluate[string](p, "navigator.userAgent")
	_, version, _ = strings.Cut(version, "Chrome/")
	major, _, _ := strings.Cut(version, ".")
	return look{Chromium: major, Letters: evaluate[string](p, letters)}
}

// picture compares the page with the golden file, region by region. Letters look
// different with another Chromium and other fonts: then only the place of the
// regions is checked.
func (p *page) picture(view, scheme string) {
	p.t.Helper()
	name := "explore-" + view + ".png"
	if scheme != "light" {
		name = "explore-" + view + "-" + scheme + ".png"
	}
	boxes := p.boxes(view)
	p.script("document.activeElement.blur()")
	got, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(pictures, name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		p.update(file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		p.t.Error(err)
		return
	}
	if len(want) > maxBytes {
		p.t.Errorf("%s has %d bytes", file, len(want))
	}
	if known := readLook(p.t); known != p.look() {
		p.t.Logf("%s is not compared: it was made with %+v, this is %+v", name, known, p.look())
		return
	}
	p.compare(name, boxes, decoded(p.t, want), decoded(p.t, got), got)
}

func (p *page) compare(name string, boxes map[string]image.Rectangle, want, got *image.RGBA, raw []byte) {
	p.t.Helper()
	for region, box := range boxes {
		n := different(want, got, box)
		if n*1000 <= box.Dx()*box.Dy()*perMille {
			continue
		}
		actual := filepath.Join(os.TempDir(), name)
		if err := os.WriteFile(actual, raw, 0o600); err != nil {
			p.t.Error(err)
		}
		p.t.Errorf("%s: %d of %d pixels of %s differ; see %s, and run with UPDATE_GOLDEN=1 if that is right", name, n, box.Dx()*box.Dy(), region, actual)
	}
}

// boxes returns the places of the regions, which do not overlap.
func (p *page) boxes(view string) map[string]image.Rectangle {
	p.t.Helper()
	out := map[string]image.Rectangle{}
	for _, region := range regions {
		b := evaluate[[]int](p, fmt.Sprintf("(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom].map(Math.round); })()", region))
		out[region] = image.Rect(b[0], b[1], b[2], b[3])
	}
	for a, box := range out {
		if box.Empty() || !box.In(image.Rect(0, 0, width, height)) {
			p.t.Errorf("%s: %s is at %v", view, a, box)
		}
		for b, other := range out {
			if a != b && !box.Inset(1).Intersect(other.Inset(1)).Empty() {
				p.t.Errorf("%s: %s is over %s", view, a, b)
			}
		}
	}
	return out
}

// different counts the pixels of a region that differ.
func different(a, b *image.RGBA, box image.Rectangle) (n int) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			p, q := a.RGBAAt(x, y), b.RGBAAt(x, y)
			if apart(p.R, q.R) || apart(p.G, q.G) || apart(p.B, q.B) {
				n++
			}
		}
	}
	return n
}

func apart(a, b uint8) bool { return max(a, b)-min(a, b) > differs }

func decoded(t *testing.T, data []byte) *image.RGBA {
	t.Helper()
	in, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewRGBA(in.Bounds())
	draw.Draw(out, out.Bounds(), in, in.Bounds().Min, draw.Src)
	return out
}

func readLook(t *testing.T) (out look) {
	t.Helper()
	text, err := os.ReadFile(machine)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// update writes a picture anew, as small as it gets.
func (p *page) update(file string, got []byte) {
	p.t.Helper()
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, reduced(decoded(p.t, got))); err != nil {
		p.t.Fatal(err)
	}
	text, err := json.MarshalIndent(p.look(), "", "  ")
	if err != nil {
		p.t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: small.Bytes(), machine: append(text, '\n')} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// reduced returns a picture with its 256 most frequent colours alone.
func reduced(in *image.RGBA) *image.Paletted {
	counts := map[color.RGBA]int{}
	for i := 0; i < len(in.Pix); i += 4 {
		counts[color.RGBA{R: in.Pix[i], G: in.Pix[i+1], B: in.Pix[i+2], A: in.Pix[i+3]}]++
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colors[:min(len(colors), 256)] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(in.Bounds(), palette)
	draw.Draw(out, out.Bounds(), in, in.Bounds().Min, draw.Src)
	return out
}

// forgive drops what the console says about requests that were meant to fail.
func (p *page) forgive(status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.problems[:0]
	for _, problem := range p.problems {
		if !strings.Contains(problem, "Failed to load resource") || !strings.Contains(problem, status) {
			kept = append(kept, problem)
		}
	}
	p.problems = kept
}
