package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// part is a named part of a policy: a variable, an input, a param, or the Rego
// beside it.
type part struct {
	text string
	// uses are the names of the parts that its expressions use, as the compiler
	// resolved them: however they are spelt.
	uses map[string]bool
}

// parts are a policy's parts by name: "variables.x", "inputs.x", "params.x",
// regoPart. The hash of a part and of all that it uses tells what another
// revision decides otherwise.
type parts map[string]part

// regoPart names all Rego beside the policy.
const regoPart = "rego"

// using returns the names that the expressions compiled by f use. What f uses
// is used by the surrounding part, too.
func (b *builder) using(f func()) map[string]bool {
	outer := b.uses
	b.uses = map[string]bool{}
	f()
	found := b.uses
	b.uses = outer
	b.use(found)
	return found
}

func (b *builder) use(names map[string]bool) {
	if b.uses != nil {
		maps.Copy(b.uses, names)
	}
}

// fingerprints fills in what tells revisions apart, rule by rule.
func (b *builder) fingerprints() {
	spec := b.doc.Node.Get("spec")
	p := b.parts
	for _, n := range spec.Get("variables").Items() {
		p.describe("variables."+n.Get("name").Text, content(n))
	}
	for i, n := range spec.Get("inputs").Items() {
		p.describe("inputs."+n.Get("name").Text, content(n)+narrowing(b.plan.Inputs[i]))
	}
	for name, v := range b.plan.Params {
		p["params."+name] = part{text: fmt.Sprint(value.Plain(v))}
	}
	p[regoPart] = part{text: b.regoText()}
	b.plan.Frame = p.hash(content(spec.Get("for"))+b.frame(), nil)
	for i, n := range spec.Get("rules").Items() {
		r, of := b.plan.Rules[i], b.rulesUse[i]
		r.Gate = p.hash(gateText(n, of.conditionUsesLocals), of.gate)
		r.Body = p.hash(content(n)+constants(r), of.body)
	}
}

func (p parts) describe(name, text string) { p[name] = part{text: text, uses: p[name].uses} }

// frame is what the params make of the primary's selector and namespaces.
func (b *builder) frame() string {
	return fmt.Sprintf("%q %q", b.plan.Primary.Selector.String(), b.plan.Primary.Namespaces)
}

// narrowing is what the params make of an input: these expressions are
// evaluated when the policy is compiled.
func narrowing(in *plan.Input) string {
	s := in.Source
	return fmt.Sprintf("%s %q %q %q %t", s.GVK, s.Namespace, s.Name, s.Selector, in.Off)
}

// constants are the values of a rule that the params alone give.
func constants(r *plan.Rule) string {
	if r.Debounce == nil {
		return ""
	}
	return fmt.Sprint(r.Debounce.MaxInFlight)
}

// ruleUses are the names that a rule uses.
type ruleUses struct {
	// gate are those of its condition and list, with its variables if the
	// condition uses them; body all.
	gate, body          map[string]bool
	conditionUsesLocals bool
}

// gateText is what decides whether a rule's actions are looked at for a key.
func gateText(rule *document.Node, withLocals bool) string {
	fields := []string{"name", "when", "forEach", "as", "stop", "continueOnError", "finally"}
	if withLocals {
		fields = append(fields, "variables")
	}
	var out []string
	for _, field := range fields {
		out = append(out, content(rule.Get(field)))
	}
	return strings.Join(out, "\n")
}

// hash is one of a text and of every part that it uses, directly or not.
func (p parts) hash(text string, uses map[string]bool) string {
	seen := map[string]bool{}
	p.reach(uses, seen)
	h := sha256.New()
	fmt.Fprintln(h, text)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintln(h, name, p[name].text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func (p parts) reach(uses, seen map[string]bool) {
	for name := range uses {
		if of, ok := p[name]; ok && !seen[name] {
			seen[name] = true
			p.reach(of.uses, seen)
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

// unused warns about variables that neither a rule nor a metric uses, directly
// or through others.
func (b *builder) unused(inMetrics map[string]bool) {
	if b.problems.HasErrors() {
		return // what does not compile uses nothing
	}
	seen := map[string]bool{}
	b.parts.reach(inMetrics, seen)
	for _, of := range b.rulesUse {
		b.parts.reach(of.body, seen)
	}
	for i := range b.doc.Spec.Variables {
		v := &b.doc.Spec.Variables[i]
		if !seen["variables."+v.Name.Value] {
			b.problems.Warnf(v.Name.Pos(), "the variable %q is used by no rule and no metric", v.Name.Value)
		}
	}
}
