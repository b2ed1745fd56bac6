package explore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp/kb"
)

// views are the views with an address in each, and what is seen there.
var views = []struct {
	name, where string
	says        []string
}{
	{"why", "policy=agent-node-label&key=node-a1&view=why", []string{"the rule \"run the agent\" applies because", "variables.wanted", "✓ true", "stop the agent", "skipped"}},
	{"candidates", "policy=replica-scheduling&key=orders&view=candidates&record=RECORD&about=node-a2", []string{"excluded by the step \"LVG not ready\"", "★ chosen", "✕ LVG not ready: 2"}},
	{"text", "policy=agent-node-label&key=node-a1&view=text", []string{"# Which nodes run", "when: variables.wanted", "wanted = true", "label = \"storage.deckhouse.io"}},
	{"effects", "policy=storage-pool-eligibility&key=fast&view=effects", []string{"status.eligibleNodesRevision", "absent", "spec.nodeLabelSelector", "Reads (", "ReplicatedStoragePool fast"}},
	{"time", "policy=storage-pool-eligibility&key=data&view=time", []string{"2026-03-01 12:00:00Z (+0s)", "2026-03-01 12:05:00Z", "Go there", "◀ Event before", "What happens when all policies run"}},
	{"params", "policy=replica-scheduling&key=cache&view=params", []string{"attachToBonus", "in force: 1000", "transZonalFallback"}},
	{"revisions", "policy=storage-pool-eligibility&key=data&view=revisions", []string{"Other revision", "This revision", "Calculated: ${size", "2 objects move: 0 created, 2 changed, 0 deleted"}},
	{"graph", "policy=storage-pool-eligibility&key=data&view=graph", []string{"Kinds read", "agent-node-label", "Who wakes whom", "status.eligibleNodes[*].nodeName"}},
}

// chosen returns a decision of a run that chose among candidates, and in which of its
// selections.
const chosen = `(async () => {
  const get = async (path) => (await fetch("api/" + path)).json();
  for (const e of (await get("timeline?horizon=3600")).events.filter((e) => e.key.name === "orders" && e.record)) {
    const { selections } = (await get("decision?policy=replica-scheduling&key=orders&record=" + e.record)).record;
    const at = selections.findIndex((s) => s.winner !== undefined && s.candidates.some((c) => c.droppedBy));
    if (at >= 0) return e.record + "&selection=" + at;
  }
})()`

// TestEveryView: every view says what it is for, in light and dark, with contrast,
// names for everything that can be used, and no colour without a word; and it looks
// as it did.
func TestEveryView(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			p := open(t, served(t, examples(t)), scheme)
			record := evaluate[string](p, chosen)
			for _, v := range views {
				p.visit(strings.Replace(v.where, "RECORD", record, 1))
				if v.name == "params" { // and as it is when a slider has moved
					p.set("param-attachToBonus", "0")
					p.wait(moves)
				}
				p.says("#main-view", v.says...)
				p.readable(v.name)
				p.fits(v.name)
				if scheme == "light" || v.name == "candidates" {
					p.picture(v.name, scheme)
				}
			}
		})
	}
}

// contrast lists the texts whose contrast with what is behind them is below 4.5.
const contrast = `(() => {
  const light = (c) => { const [r, g, b] = c.match(/[\d.]+/g).slice(0, 3).map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$|transparent/.test(c)) return c; } return "rgb(255, 255, 255)"; };
  const out = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility({ visibilityProperty: true }) || e.closest(":disabled, svg, option, noscript, script")) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) out.add(e.className + ": " + walker.currentNode.data.trim().slice(0, 40) + " " + ratio.toFixed(2));
  }
  return [...out];
})()`

// readable checks contrast, names, and that states have words.
func (p *page) readable(view string) {
	p.t.Helper()
	for _, text := range evaluate[[]string](p, contrast) {
		p.t.Errorf("%s: too little contrast: %s", view, text)
	}
	for _, text := range evaluate[[]string](p, `[...document.querySelectorAll("main .mark")].filter((m) => !/[a-z]{4}/.test(m.innerText)).map((m) => m.outerHTML)`) {
		p.t.Errorf("%s: a state without a word: %s", view, text)
	}
	nodes := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	roles := map[string]int{}
	for _, n := range nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		roles[role]++
		switch role {
		case "button", "tab", "checkbox", "combobox", "searchbox", "slider", "textbox", "option", "listbox", "grid", "table":
			if n.Name == nil || strings.Trim(string(n.Name.Value), `"`) == "" {
				p.t.Errorf("%s: a %s without a name", view, role)
			}
		}
	}
	if roles["tab"] != len(views) || roles["main"] != 1 || roles["navigation"] != 1 || roles["tabpanel"] != 1 {
		p.t.Errorf("%s: the roles of the page are %v", view, roles)
	}
}

// fits checks that nothing sticks out of the page.
func (p *page) fits(view string) {
	p.t.Helper()
	if wide := evaluate[int](p, "Math.max(...[document.documentElement, document.querySelector('#main-view')].map((e) => e.scrollWidth - e.clientWidth))"); wide > 0 {
		p.t.Errorf("%s is %d pixels too wide", view, wide)
	}
}

// moves is that the page says what a param changes.
const moves = `/objects? moves?/.test(document.querySelector(".result").innerText)`

// set sets a field as a person does.
func (p *page) set(id, value string) {
	p.t.Helper()
	p.script(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("input", { bubbles: true })); }`, id, value))
}

// TestWhatMoves: a slider says who would move, and a reset that nobody does; a value
// that is not allowed is said to be so.
func TestWhatMoves(t *testing.T) {
	p := open(t, served(t, examples(t)), "light")
	p.visit("policy=replica-scheduling&key=cache&view=params")
	p.set("param-attachToBonus", "0")
	p.wait(moves)
	p.says(".result", "ReplicatedVolumeReplica cache-0", "spec.nodeName", "Then, about cache")
	p.script(`document.querySelector(".param.set button").click()`)
	p.wait(`document.querySelector(".result").innerText.includes("All params have the values in force")`)
	p.set("param-scoreReservationTTL-text", "soon")
	p.wait(`document.querySelector(".result [role=alert]")?.innerText.includes("scoreReservationTTL")`)
	p.forgive("422")
}

// TestClock: dragging the clock decides at another time; an event leads to the
// decision behind it.
func TestClock(t *testing.T) {
	p := open(t, served(t, examples(t)), "light")
	p.visit("policy=storage-pool-eligibility&key=data&view=time")
	p.focus("#clock-slider")
	p.press(kb.End)
	p.wait(`document.querySelector(".now").innerText.includes("13:00:00Z (+1h)")`)
	p.script(`{ const e = document.getElementById("clock-slider"); e.value = 300; e.dispatchEvent(new Event("input")); e.dispatchEvent(new Event("change")); }`)
	p.wait(`document.querySelector(".now").innerText.includes("12:05:00Z (+5m)") && document.querySelector(".at").innerText.includes("next evaluation: none")`)
	p.says("#clock", "2026-03-01 12:05:00Z", "+5m")
	p.script(`document.querySelector("#run").click()`)
	p.wait(`document.querySelector("#state").innerText.includes("at rest")`)
	p.focus(".events")
	p.press(kb.End)
	p.wait(`location.hash.includes("record=")`)
	p.says("#clock", "a decision made while the policies ran")
	p.press("1")
	p.settled("why")
	p.says("#main-view", ", and patches")
}

// TestPolicyWithoutObjects: a policy that decides about nothing here can be read, and
// its params tried.
func TestPolicyWithoutObjects(t *testing.T) {
	p := open(t, served(t, examples(t)), "light")
	p.visit("policy=agent-node-label&key=node-a1&view=text")
	p.script(`[...document.querySelectorAll("#keys .heading")].find((e) => e.innerText.includes("configmap-restart")).click()`)
	p.wait(`document.querySelector("#subject").innerText === "configmap-restart"`)
	p.settled("text")
	p.wait(`document.querySelector("#main-view").innerText.includes("name: configmap-restart")`)
	p.press("6")
	p.settled("params")
	p.says("#main-view", "debounce", "in force: 5s")
	p.press("1")
	p.settled("why")
	p.says("#main-view", "Choose an object of this policy")
}
