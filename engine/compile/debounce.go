package compile

import (
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// debounce compiles the delay of a rule. Its key is one of the policy's key,
// not of an item.
func debounce(s *scope, r *v1alpha1.Rule, perItem bool) *plan.Debounce {
	d := r.Debounce
	if !d.Key.Set() || !d.Window.Set() {
		s.problems.Hintf(d.Pos, `debounce: {key: "${key.name}", window: "${params.window}"}`, "debounce needs key and window")
		return nil
	}
	if len(r.Cases) > 0 {
		s.problems.Hintf(r.Pos, "make a rule of each case", "a rule with debounce has no cases")
		return nil
	}
	if perItem {
		s.problems.Hintf(r.When.Pos(), "filter the list: forEach: list.filter(item, ...)", "a rule with debounce is delayed for all its items at once, so its when cannot name one")
		return nil
	}
	s = s.global()
	s.node.Keeps = true
	out := &plan.Debounce{Key: s.template(d.Key), Window: s.template(d.Window)}
	out.Key.Fit(textType, "key", &s.problems.Problems)
	if text, ok := value.Str(out.Window.Constant()); !ok {
		wantDuration(out.Window, "window", s.problems)
	} else if window, err := time.ParseDuration(text); err != nil || window < 0 || window == 0 && out.Window.Program() == nil && len(d.Allowed) == 0 {
		s.problems.Hintf(out.Window.Pos(), "such as 10s", "the window %q is no duration longer than nothing", text)
	}
	for i := range d.Allowed {
		if w, ok := window(&d.Allowed[i], d, s.problems); ok {
			out.Allowed = append(out.Allowed, w)
		}
	}
	return out
}
