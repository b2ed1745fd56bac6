package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// page is the page about one policy.
func page(p *plan.Policy, text, differences string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n\n", p.Name, comment(text))
	fmt.Fprintf(&out, "It decides about each `%s` of `%s`. The text is [%s](../../policies/%s).\n\n", p.Primary.Kind, p.Primary.APIVersion, filepath.Base(p.Source.File), filepath.Base(p.Source.File))
	out.WriteString("## Reads\n\n| Input | Kind |\n|---|---|\n")
	for _, in := range p.Inputs {
		fmt.Fprintf(&out, "| `%s` | %s `%s` |\n", in.Name, in.Source.APIVersion, in.Source.Kind)
	}
	out.WriteString("\n## Rules, in their order\n\n")
	for i, r := range p.Rules {
		fmt.Fprintf(&out, "%d. %s\n", i+1, r.Name)
	}
	out.WriteString("\n## Writes\n\n")
	for _, line := range writes(p) {
		fmt.Fprintf(&out, "* %s\n", line)
	}
	out.WriteString("\n## Params\n\n")
	out.WriteString(params(p))
	fmt.Fprintf(&out, "\n## Differences from what it replaces\n\n%s\nHow to change over is in [its migration guide](../migration/%s.md).\n", differences, guide(p.Name))
	return out.String()
}

// guide returns the name of the guide in docs/migration that a policy is in: some
// policies are changed over together.
func guide(policy string) string {
	switch {
	case strings.HasPrefix(policy, "kmm-"):
		return "kernel-modules"
	case strings.HasSuffix(policy, "-restart"):
		return "config-restarts"
	default:
		return policy
	}
}

// comment returns what the text of a policy says about itself.
func comment(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		rest, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		if rest = strings.TrimSpace(rest); !strings.HasPrefix(rest, "yaml-language-server:") {
			lines = append(lines, rest)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// writes lists what the policy writes, by kind.
func writes(p *plan.Policy) (out []string) {
	for _, w := range p.Writes {
		line := fmt.Sprintf("`%s` of %s: %s", w.Kind, w.APIVersion, w.Verb)
		if w.Subresource != "" {
			line = fmt.Sprintf("`%s/%s` of %s: %s", w.Kind, w.Subresource, w.APIVersion, w.Verb)
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func params(p *plan.Policy) string {
	if len(p.ParamInfo) == 0 {
		return "It has none.\n"
	}
	var out strings.Builder
	out.WriteString("| Param | Type | Default | Meaning |\n|---|---|---|---|\n")
	for _, param := range p.ParamInfo {
		text, err := json.Marshal(value.Plain(param.Default))
		if err != nil {
			text = fmt.Append(nil, param.Default)
		}
		if param.Required {
			param.Description = strings.TrimSuffix("required in a cluster; "+param.Description, "; ")
		}
		fmt.Fprintf(&out, "| `%s` | %s | `%s` | %s |\n", param.Name, param.Type, strings.ReplaceAll(string(text), "|", `\|`), param.Description)
	}
	return out.String()
}

// index is the page about all policies.
func index(list []*plan.Policy) string {
	var out strings.Builder
	out.WriteString("# The shipped policies\n\n| Policy | Decides about | Params |\n|---|---|---|\n")
	for _, p := range list {
		fmt.Fprintf(&out, "| [%s](%s.md) | `%s` | %d |\n", p.Name, p.Name, p.Primary.Kind, len(p.ParamInfo))
	}
	return out.String()
}
