package cel

import (
	"slices"
	"strings"
	"testing"
)

// TestMacroForms: of each macro it is known how it is called, and of nothing else.
func TestMacroForms(t *testing.T) {
	t.Parallel()
	var macros []string
	for _, name := range declared(t).Macros() {
		name = strings.TrimPrefix(name, "list.")
		macros = append(macros, name)
		if _, known := macroForms[name]; !known && !strings.Contains(name, ".") {
			t.Errorf("how the macro %s is called is not known", name)
		}
	}
	for name := range macroForms {
		if !slices.Contains(macros, name) {
			t.Errorf("there is no macro %s", name)
		}
	}
}
