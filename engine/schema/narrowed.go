package schema

import (
	_ "embed"
	"maps"
	"slices"
)

// restart is what the code of the API server takes as restartPolicy of the Pods that objects
// make. The schema of a Pod, which they share, allows more.
type restart struct {
	Policies []string `json:"policies"`
	// Demanded says that the default is none of these.
	Demanded bool `json:"demanded"`
}

// restartsText is by the definition that has the template of the Pods; test/conformance
// compares it with kube-apiserver.
//
//go:embed restarts.json
var restartsText []byte

var restarts = Table[restart]("restart policies", restartsText)

// narrow gives a definition with a template of Pods the values that their restartPolicy may
// have there.
func (t *Type) narrow() {
	r, ok := restarts()[t.Name]
	template := t.Fields["template"]
	if !ok || template == nil {
		return // a document may have parts of a definition
	}
	pods := template.Fields["spec"]
	if pods == nil || pods.Fields["restartPolicy"] == nil {
		return
	}
	pods = pods.with("restartPolicy", &Type{Kind: String, Enum: slices.Clone(r.Policies)})
	if r.Demanded {
		pods.demanded = map[string]bool{"restartPolicy": true}
	}
	t.Fields["template"] = template.with("spec", pods)
}

// with returns an object type with another type of a field.
func (t *Type) with(field string, of *Type) *Type {
	out := &Type{
		Kind: t.Kind, Name: t.Name, Fields: maps.Clone(t.Fields), present: t.present, identity: t.identity, defaults: t.defaults,
		demanded: t.demanded, Open: t.Open, Omits: t.Omits, Atomic: t.Atomic, limits: t.limits,
	}
	out.Fields[field] = of
	return out
}
