package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/value"
)

func plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// firstDifference returns the first difference of two lists of effects in words.
func firstDifference(want, got []any) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("effect %d is missing", i+1)
		case i >= len(want):
			return fmt.Sprintf("effect %d is not expected", i+1)
		}
		if text := difference("", normal(want[i]), normal(shape(want[i], got[i]))); text != "" {
			name, _, _ := strings.Cut(strings.SplitN(text, " ", 2)[0], ".")
			effect, _ := got[i].(map[string]any)
			if _, known := effect[name]; !known && effect != nil {
				text += "; the fields of an effect are " + strings.Join(slices.Sorted(maps.Keys(effect)), ", ")
			}
			return fmt.Sprintf("the first difference is in effect %d: %s", i+1, text)
		}
	}
	return "they differ only in shape"
}

// difference returns the first difference of two values in words, or "" if they are equal.
func difference(path string, want, got any) string {
	w, ok := want.(map[string]any)
	g, also := got.(map[string]any)
	if ok && also {
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if text := difference(strings.TrimPrefix(path+"."+name, "."), w[name], g[name]); text != "" {
				return text
			}
		}
	}
	list, ok := want.([]any)
	other, also := got.([]any)
	if ok && also && len(list) == len(other) {
		for i := range list {
			if text := difference(fmt.Sprintf("%s[%d]", path, i), list[i], other[i]); text != "" {
				return text
			}
		}
	}
	if equal(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %s, want %s", path, plainText(got), plainText(want))
}

// maxPlain bounds a value in a sentence, in bytes.
const maxPlain = 200

func plainText(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return value.Cut(string(text), maxPlain)
}

// maxLines bounds the effects that a report lists.
const maxLines = 50

// lines writes a line for each value, up to maxLines.
func lines(out *strings.Builder, what string, values []any, line func(any) string) {
	for i, v := range values[:min(len(values), maxLines)] {
		fmt.Fprintf(out, "  %s %d: %s\n", what, i+1, line(v))
	}
	if more := len(values) - maxLines; more > 0 {
		fmt.Fprintf(out, "  %s %d more, not shown\n", what, more)
	}
}

// effectLine returns the verb, object and rule of an effect.
func effectLine(v any) string {
	e, _ := v.(map[string]any)
	target, _ := e["target"].(map[string]any)
	object := strings.TrimPrefix(fmt.Sprintf("%v/%v", target["namespace"], target["name"]), "/")
	if sub, _ := e["subresource"].(string); sub != "" {
		object += " (" + sub + ")"
	}
	return fmt.Sprintf("%v %v %s, rule %q of %v", e["verb"], target["kind"], object, e["rule"], e["policy"])
}
