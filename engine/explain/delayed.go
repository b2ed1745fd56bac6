package explain

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/record"
)

// delayed says of each rule that waits when it runs, and why it is wanted.
func delayed(rules []record.RuleDocument) (out []string) {
	for i := range rules {
		if r := &rules[i]; r.Delayed != nil {
			out = append(out, fmt.Sprintf("the rule %q waits %s", r.Name, until(r.Delayed))+wanted(r.When))
		}
	}
	return out
}

// until says how long a run waits.
func until(d *record.DelayDocument) string {
	if d.Items > 0 {
		return fmt.Sprintf("until %s because of its rate (items: %d)", d.Due.Format(time.RFC3339Nano), d.Items)
	}
	return fmt.Sprintf("until %s because of its debounce, key %q", d.Due.Format(time.RFC3339Nano), d.Key)
}

// wanted says why a run is wanted: its condition holds, or did when the run became
// pending.
func wanted(when *record.WhenDocument) string {
	switch {
	case when == nil:
		return ""
	case when.Value == true:
		return ", and is to run because " + and(Reasons(when))
	}
	return ", and is to run although " + and(Reasons(when)) + " by now"
}
