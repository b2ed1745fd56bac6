package explore

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// scroll scrolls through the table of candidates, and counts.
const scroll = `(async () => {
  const table = document.querySelector(".candidates");
  const out = { rows: 0, nodes: 0, added: 0, long: 0, steps: 0, names: 0 };
  new PerformanceObserver((list) => { out.long += list.getEntries().length; }).observe({ type: "longtask" });
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  let added = 0;
  const seen = new Set();
  new MutationObserver((list) => list.forEach((one) => { added += one.addedNodes.length; })).observe(table, { childList: true, subtree: true });
  for (let at = 0; at <= table.scrollHeight; at += table.clientHeight * 4) {
    added = 0;
    table.scrollTop = at;
    await frame();
    const rows = table.querySelectorAll(".row");
    rows.forEach((row) => seen.add(row.children[1].textContent));
    out.steps++;
    out.rows = Math.max(out.rows, rows.length);
    out.nodes = Math.max(out.nodes, document.querySelectorAll("*").length);
    out.added = Math.max(out.added, added);
  }
  table.scrollTop = table.scrollHeight;
  await frame();
  out.last = [...table.querySelectorAll(".row")].at(-1).innerText;
  return out;
})()`

// TestManyCandidates: of 5,000 candidates only those that are seen are in the
// document, and scrolling makes no more than these anew.
func TestManyCandidates(t *testing.T) {
	p := open(t, served(t, many(t)), "light")
	p.visit("policy=place&key=east/p&view=candidates")
	p.says("#main-view", "5,000 candidates", "✕ cordoned: 500")
	got := evaluate[struct {
		Rows, Nodes, Added, Long, Steps int
		Last                            string
	}](p, scroll)
	t.Logf("%+v", got)
	if got.Steps < 40 || got.Rows < 10 || got.Rows > 60 || got.Nodes > 1000 || got.Added > got.Rows {
		t.Errorf("%d steps, %d rows and %d elements at most in the document, %d rows made in one step", got.Steps, got.Rows, got.Nodes, got.Added)
	}
	p.focus(".candidates")
	p.press(kb.Home)
	p.wait(`document.querySelector(".answers")?.innerText.includes("was chosen, with 99 points")`)
	p.focus(".candidates")
	p.press(kb.End)
	p.wait(`document.querySelector(".answers")?.innerText.includes("excluded by the step \"cordoned\"")`)
	p.focus("[aria-label='Filter candidates']")
	p.press("node-4321")
	p.wait(`document.querySelectorAll(".candidates .row").length === 1`)
	p.says("#main-view", "1 of 5,000 candidates")
}
