package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
)

// Revision is a short hash of everything that a policy decides by: its spec,
// its Rego and the values given for its params. Layout, comments and the mode
// do not count: what ran in the shadow has the same revision when it is
// enforced.
func Revision(p *v1alpha1.Policy, modules []rego.Module, overrides map[string]Override) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", p.Metadata.Name.Value, content(p.Node.Get("spec")))
	for _, m := range modules {
		if !m.IsTest() {
			fmt.Fprintf(h, "%d %s\n", len(m.Text), m.Text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		fmt.Fprintf(h, "%s=%s\n", name, overrides[name].written())
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// written tells what was given: that 1 and "1" are not the same, nor a list of
// two and of one with a space in it.
func (o Override) written() string {
	if o.Value == nil {
		return o.Text
	}
	text, err := json.Marshal(o.Value)
	if err != nil {
		return fmt.Sprintf("%#v", o.Value)
	}
	return string(text)
}

// content writes a part of a document without its layout.
func content(n *document.Node) string {
	if n == nil {
		return ""
	}
	plain := n.Plain()
	if fields, ok := plain.(map[string]any); ok {
		delete(fields, "mode")
	}
	text, err := json.Marshal(plain)
	if err != nil { // what JSON cannot hold, such as NaN
		return fmt.Sprint(plain)
	}
	return string(text)
}
