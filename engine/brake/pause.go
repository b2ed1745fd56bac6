package brake

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
)

// Reason is why something is not written now. It is a label of metrics.
type Reason string

// The reasons.
const (
	// ChangeLimit and RemovalLimit are of a policy that wrote, or removed, more
	// than its limit.
	ChangeLimit  Reason = "ChangeLimit"
	RemovalLimit Reason = "RemovalLimit"
	// Held is of what a person holds.
	Held Reason = "Hold"
	// Uncertain is of a removal while what the policy reads may be out of date.
	Uncertain Reason = "Uncertain"
)

// Pause is a policy that writes nothing until somebody resumes it or its text
// changes.
type Pause struct {
	Policy string
	// Revision is that of the policy that was paused: another one goes on.
	Revision string
	Reason   Reason
	// Message says what happened; First names the first object that was kept
	// back.
	Message string
	First   string
	Since   time.Time
	// Count is how often it happened, Limit what was allowed.
	Count int64
	Limit int64

	limit  *plan.Limit
	effect *eval.Effect
}

// Window returns the window of the limit that was exceeded, or 0.
func (p *Pause) Window() time.Duration {
	if p.limit == nil {
		return 0
	}
	return p.limit.Window
}

// Text returns the message with the commands that a person may use.
func (p *Pause) Text() string {
	set, _ := identity.ParsePolicyID(p.Policy)
	return fmt.Sprintf("%s; edict resume %s lets it go on, edict rollback %s takes its last edit back, if it was edited", p.Message, set, set)
}
