package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/children"
)

// AppliedPrefix begins the annotation in which a policy keeps a digest of what
// it has applied to an object; the policy's name follows.
const AppliedPrefix = "applied.edict.dev/"

// HeldPrefix and RatePrefix begin the annotations in which a rule keeps times. The policy and
// the rule follow.
const (
	HeldPrefix = "held.edict.dev/"
	RatePrefix = "rate.edict.dev/"
)

// MaxAhead is how far a time in such an annotation may lie ahead of now: the clock of another
// process may differ. A later one counts as none, or whoever may write annotations could keep a
// rule from running.
const MaxAhead = time.Minute

// domain is that of the marks which the engine keeps on objects. Texts of policies write no
// label and no annotation below it.
const domain = "edict.dev"

// Reserved reports whether a label or an annotation is in the domain of the engine.
func Reserved(key string) bool {
	prefix, _, has := strings.Cut(key, "/")
	return has && (prefix == domain || strings.HasSuffix(prefix, "."+domain))
}

// Marks reports whether a label or an annotation is one that the engine itself writes for a
// policy.
func Marks(policy, key string) bool {
	return key == AppliedPrefix+policy || key == children.UntilPrefix+policy || strings.HasPrefix(key, HeldPrefix+policy+".") || strings.HasPrefix(key, RatePrefix+policy+".") ||
		slices.Contains([]string{children.PolicyLabel, children.ChildLabel, children.PrimaryName, children.PrimaryNamespace, children.WhenUnwanted}, key)
}
