package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// parts are the texts of a policy's named parts: "variables.x", "inputs.x",
// "params.x". Of a part, and of all that it mentions, a hash is taken, which
// tells what of a policy another revision decides otherwise.
type parts map[string]string

// mention finds the names of other parts in a text, which is JSON: before a name
// may stand the end of an escape, such as the n of a new line, and around the
// dot white space. A name in a comment or a string counts as well, as does the
// end of a longer word: that only makes a hash depend on more.
var mention = regexp.MustCompile(`(variables|inputs|params)` + space + `\.` + space + `\??` + space + `([A-Za-z_][A-Za-z0-9_]*)`)

const space = `(?:\s|\\[nrt])*`

// fingerprints fills in what tells revisions apart, rule by rule.
func (b *builder) fingerprints() {
	spec := b.doc.Node.Get("spec")
	p := parts{}
	for _, section := range []string{"variables", "inputs"} {
		for _, n := range spec.Get(section).Items() {
			p[section+"."+n.Get("name").Text] = content(n)
		}
	}
	for name, v := range b.plan.Params {
		p["params."+name] = fmt.Sprint(value.Plain(v))
	}
	rego := b.regoText()
	b.plan.Frame = p.hash(content(spec.Get("for")), rego)
	for i, n := range spec.Get("rules").Items() {
		r := b.plan.Rules[i]
		gate := gateText(n, r.WhenPerItem)
		r.Gate, r.Body = p.hash(gate, rego), p.hash(content(n), rego)
	}
}

// gateText is what decides whether a rule's actions are looked at for a key.
func gateText(rule *document.Node, perItem bool) string {
	fields := []string{"name", "when", "forEach", "as", "stop", "continueOnError"}
	if perItem {
		fields = append(fields, "variables")
	}
	var out []string
	for _, field := range fields {
		out = append(out, content(rule.Get(field)))
	}
	return strings.Join(out, "\n")
}

// hash is one of a text and of everything that it mentions, directly or not.
func (p parts) hash(text, rego string) string {
	seen := map[string]bool{}
	p.reach(text, seen)
	h := sha256.New()
	fmt.Fprintln(h, text)
	asks := strings.Contains(text, `"rego"`)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintln(h, name, p[name])
		asks = asks || strings.Contains(p[name], `"rego"`)
	}
	if asks {
		fmt.Fprintln(h, rego)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func (p parts) reach(text string, seen map[string]bool) {
	for _, found := range mention.FindAllStringSubmatch(text, -1) {
		name := found[1] + "." + found[2]
		if part, ok := p[name]; ok && !seen[name] {
			seen[name] = true
			p.reach(part, seen)
		}
	}
}

// regoText is all Rego that the policy may ask.
func (b *builder) regoText() string {
	var out strings.Builder
	for _, m := range b.options.Modules[b.doc.Pos.File] {
		out.WriteString(m.Text)
	}
	return out.String()
}
