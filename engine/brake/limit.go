package brake

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/edict-dev/edict/engine/plan"
)

// Settings are what an installation says about all policies.
type Settings struct {
	// Default is for policies that have no limit of their own. Max holds for all
	// of them besides. A nil limit bounds nothing.
	Default, Max plan.Limits
	// Virtual says that there is nothing to protect, and that time does not pass while
	// keys write: nothing is kept back, a pause is only noted, and only keys that are due
	// again and again are held to their pace.
	Virtual bool
}

// The limits of an installation that says nothing.
var (
	// Ten writes of each object within a minute: a node that goes away and comes back
	// needs fewer, and a fight takes 30 at once. Of few objects a policy may write 1000
	// times, because it may write many others for one, and that stops within ten seconds
	// what writes as fast as it can.
	defaultChanges  = plan.Limit{PerWindow: 1000, PerCentOf: plan.ObjectsOfPolicy, Input: -1, AtLeast: 1000, Window: time.Minute}
	defaultRemovals = plan.Limit{PerWindow: 25, PerCentOf: plan.ObjectsOfPolicy, Input: -1, AtLeast: 10, Window: time.Minute}
)

// DefaultSettings returns the settings of an installation that says nothing.
func DefaultSettings() Settings {
	changes, removals := defaultChanges, defaultRemovals
	return Settings{Default: plan.Limits{Changes: &changes, Removals: &removals}}
}

var limitForm = regexp.MustCompile(`^(\d{1,9})(%(?: or (\d{1,9}))?)? per (\S+)$`)

// MinWindow and MaxWindow bound the window of a limit.
const (
	MinWindow = time.Second
	MaxWindow = 24 * time.Hour
)

// ParseLimit reads a limit as flags give it: "100 per 1m", or a percentage of
// the policy's objects with a minimum, "25% or 10 per 1m"; "none" is nil.
func ParseLimit(text string) (*plan.Limit, error) {
	if text == "none" || text == "" {
		return nil, nil
	}
	parts := limitForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, fmt.Errorf(`%q is no limit; write "100 per 1m", "25%% or 10 per 1m" or "none"`, text)
	}
	window, err := time.ParseDuration(parts[4])
	if err != nil || window < MinWindow || window > MaxWindow {
		return nil, fmt.Errorf("%q: the window must be a duration from %s to %s", text, MinWindow, MaxWindow)
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64) // the form allows nothing else
	out := &plan.Limit{PerWindow: n, Window: window, Input: -1}
	if parts[2] != "" {
		out.PerCentOf = plan.ObjectsOfPolicy
		out.AtLeast, _ = strconv.ParseInt("0"+parts[3], 10, 64)
	}
	return out, nil
}
