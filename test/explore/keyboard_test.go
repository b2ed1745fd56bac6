package explore

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestKeyboard: everything can be done without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, served(t, examples(t)), "light")
	at := func(subject string) {
		p.t.Helper()
		p.wait(`document.querySelector("#subject").innerText.replace(/\s+/g, " ") === "` + subject + `"`)
	}
	at("agent-node-label / node-a1")
	p.press("j")
	at("agent-node-label / node-a2")
	p.press(kb.ArrowDown)
	at("agent-node-label / node-b1")
	p.press("k")
	at("agent-node-label / node-a2")
	p.press("/")
	p.wait(`document.activeElement.id === "search"`)
	p.press("orders")
	p.wait(`document.querySelector("#search").value === "orders" && document.querySelectorAll("#keys .key").length === 1`)
	p.press(kb.Enter)
	at("replica-scheduling / orders")
	for i, v := range views {
		p.press(string(rune('1' + i)))
		p.settled(v.name)
		p.wait(`document.querySelector("[role=tab][aria-selected=true]").id === "tab-` + v.name + `"`)
	}
	p.focus("#tab-graph")
	p.press(kb.ArrowRight)
	p.settled("why")
	p.wait(`document.activeElement.id === "tab-why"`)
	p.press("?")
	p.wait(`document.querySelector("#help").open`)
	p.says("#help", "the next object", "Reads and writes")
	p.press("j") // the page behind stays where it is
	p.press(kb.Escape)
	p.wait(`!document.querySelector("#help").open`)
	at("replica-scheduling / orders")
	p.focus("#why-not")
	p.press("node-a2")
	p.press(kb.Enter)
	p.wait(`document.querySelector(".answers")?.innerText.includes("node-a2")`)
	if seen := evaluate[string](p, `(() => { const e = document.querySelector("#tab-why"); e.focus({ focusVisible: true }); return getComputedStyle(e).outlineStyle; })()`); seen != "solid" {
		t.Errorf("the focus is not seen: its outline is %s", seen)
	}
}
