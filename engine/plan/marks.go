package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/identity"
)

// AppliedKey returns the annotation in which a policy keeps the digest of its last patch of an
// object.
func AppliedKey(policy string) string { return identity.MarkKey("applied.edict.dev/", policy, "") }

// HeldPrefix and RatePrefix begin the annotations in which a rule keeps times.
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

// MarkKeys returns the annotations that a policy with some rules keeps on objects.
func MarkKeys(policy string, rules []string) []string {
	out := []string{AppliedKey(policy), identity.MarkKey(children.UntilPrefix, policy, "")}
	for _, rule := range rules {
		out = append(out, identity.MarkKey(HeldPrefix, policy, rule), identity.MarkKey(RatePrefix, policy, rule))
	}
	return out
}

// Marks reports whether a label or an annotation is one that the engine itself writes for the
// policy; nil has none of its own.
func (p *Policy) Marks(key string) bool {
	return p != nil && slices.Contains(p.MarkKeys, key) ||
		slices.Contains([]string{children.PolicyLabel, children.PolicySetLabel, children.ChildLabel, children.PrimaryName, children.PrimaryNamespace, children.WhenUnwanted}, key)
}
