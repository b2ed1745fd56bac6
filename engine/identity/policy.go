package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// PolicyID returns SET/POLICY, or the name of a policy that is in no set.
func PolicyID(set, policy string) string {
	if set == "" {
		return policy
	}
	return set + "/" + policy
}

// ParsePolicyID splits a result of PolicyID into set and policy.
func ParsePolicyID(id string) (set, policy string) {
	if set, policy, found := strings.Cut(id, "/"); found {
		return set, policy
	}
	return "", id
}

// MarkKey returns the key of an annotation of a policy, or of one of its rules if rule is not
// empty: the prefix and 20 hex digits of the SHA-256 of SET/POLICY/RULE.
func MarkKey(prefix, id, rule string) string {
	sum := sha256.Sum256([]byte(strings.TrimSuffix(id+"/"+rule, "/")))
	return prefix + hex.EncodeToString(sum[:10])
}
