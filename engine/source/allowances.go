package source

import (
	"maps"
	"path"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// ReadAllowances returns the allowances that a ConfigMap shows, in keys that a policy
// could be in.
func (c *ConfigMap) ReadAllowances() (allowed []v1alpha1.Allowance, problems []document.Problem) {
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if !isPolicyKey(key) {
			continue
		}
		found, wrong := load.Documents(path.Join(c.Path(), key), []byte(c.Data[key]))
		problems = append(problems, wrong...)
		for _, a := range found.Allowances {
			allowed = append(allowed, a.Spec.Allow...)
		}
	}
	return allowed, problems
}
