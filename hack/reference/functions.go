package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// functions describes the builtins, and lists what CEL and its libraries have.
func functions(env *cel.Env) string {
	var out strings.Builder
	out.WriteString("## Builtins\n\n| Call | Meaning | Example |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(env.Functions())) {
		f := env.Functions()[name]
		fmt.Fprintf(&out, "| `%s` | %s | `%s` |\n", cell(f.Signature()), cell(f.Doc), cell(f.Example))
	}
	out.WriteString("\n## Functions of CEL and its libraries\n\nA function with a type before its name is called on a value of that type. Operators are not listed. `getDate` counts days from 1; `getDayOfMonth`, `getDayOfYear`, `getMonth` and `getDayOfWeek` (Sunday first) count from 0. They take a time zone, such as `Europe/Berlin`; without one they use UTC.\n\n")
	fmt.Fprintf(&out, "Macros: `%s`.\n\n| Function | Calls |\n|---|---|\n", strings.Join(env.Macros(), "`, `"))
	signatures := env.Signatures()
	for _, name := range slices.Sorted(maps.Keys(signatures)) {
		list := slices.Sorted(slices.Values(signatures[name]))
		for i, s := range list {
			list[i] = "`" + cell(s) + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s |\n", name, strings.Join(list, "<br>"))
	}
	return out.String()
}

// cell returns a text as it stands in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
