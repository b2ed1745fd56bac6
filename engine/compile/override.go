package compile

import (
	"fmt"
	"maps"
	"path/filepath"

	"github.com/edict-dev/edict/engine/document"
)

// Override is a value given for a param by somebody other than the policy.
type Override struct {
	// Value is the value as a document gives it, plain data. Nil means that Text
	// is the value as it was typed: YAML, or a bare string.
	Value any    `json:"value,omitempty"`
	Text  string `json:"text,omitempty"`
	// At is where the value stands; zero for one that was typed.
	At document.Position `json:"at,omitzero"`
	// From says, for a person, who gave the value.
	From string `json:"from,omitempty"`
}

// Overrides are values by policy and param.
type Overrides map[string]map[string]Override

// Put adds a value.
func (o Overrides) Put(policy, name string, value Override) {
	if o[policy] == nil {
		o[policy] = map[string]Override{}
	}
	o[policy][name] = value
}

// For returns the values for a policy. Those for its document, of, are values for each of
// its kinds: one for the policy itself wins, unless only the other one was typed.
func (o Overrides) For(policy, of string) map[string]Override {
	if of == "" || o[of] == nil {
		return o[policy]
	}
	out := maps.Clone(o[of])
	for name, own := range o[policy] {
		if general, taken := out[name]; !taken || own.typed() || !general.typed() {
			out[name] = own
		}
	}
	return out
}

// typed reports whether a value does not stand in a document.
func (o Override) typed() bool { return o.At.Line == 0 }

// TypedOverrides makes overrides of texts that were typed.
func TypedOverrides(texts map[string]map[string]string, from string) Overrides {
	out := Overrides{}
	for policy, params := range texts {
		for name, text := range params {
			out.Put(policy, name, Override{Text: text, From: from})
		}
	}
	return out
}

// Given makes an override of a value in a document.
func Given(n *document.Node, from string) Override {
	return Override{Value: n.Plain(), Text: n.Text, At: n.Pos, From: from}
}

// ReadOverrides reads {policy: {param: value}} of documents; the last value counts.
func ReadOverrides(from string, nodes ...*document.Node) (Overrides, error) {
	out := Overrides{}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		if n.Kind != document.Map {
			return nil, fmt.Errorf("%s: params are {policy: {name: value}}", n.Pos)
		}
		for i, policy := range n.Keys {
			if n.Values[i].Kind != document.Map {
				return nil, fmt.Errorf("%s: params are {policy: {name: value}}", n.Values[i].Pos)
			}
			for j, name := range n.Values[i].Keys {
				o := Override{Text: n.Values[i].Values[j].Text, From: from}
				switch v := n.Values[i].Values[j]; v.Kind {
				case document.Null:
					return nil, fmt.Errorf("%s: %s.%s has no value", v.Pos, policy.Text, name.Text)
				case document.Map, document.List:
					o.Value = v.Plain()
				}
				out.Put(policy.Text, name.Text, o)
			}
		}
	}
	return out, nil
}

// FromFile reports whether values are from a file.
func (o Overrides) FromFile(path string) bool {
	at, err := filepath.Abs(path)
	for _, params := range o {
		for _, v := range params {
			if from, _ := filepath.Abs(v.From); err == nil && from == at {
				return true
			}
		}
	}
	return false
}

// With returns the values, and those of others, which win.
func (o Overrides) With(others Overrides) Overrides {
	out := Overrides{}
	for _, list := range []Overrides{o, others} {
		for policy, params := range list {
			for name, v := range params {
				out.Put(policy, name, v)
			}
		}
	}
	return out
}

// at is where a problem with the override is shown.
func (o Override) at(otherwise document.Position) document.Position {
	if o.At.Line > 0 {
		return o.At
	}
	return otherwise
}

// raw is the value for a param of a kind.
func (o Override) raw(kind string) (any, error) {
	switch {
	case o.Value != nil:
		return o.Value, nil
	case kind == "string" || kind == "duration":
		return o.Text, nil
	}
	var problems document.Problems
	nodes := document.Parse("", []byte(o.Text), &problems)
	if err := problems.Err(); err != nil || len(nodes) != 1 {
		return o.Text, err
	}
	return nodes[0].Plain(), nil
}

// String returns the value as it was written.
func (o Override) String() string {
	if o.Text == "" && o.Value != nil {
		return fmt.Sprint(o.Value)
	}
	return o.Text
}
