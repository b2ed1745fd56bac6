package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Observed is a short hash of what the status of the ConfigMap takes into account: its data,
// its mode and its rollout, and the ConfigMaps of params with values for its policies.
func (c *Contents) Observed(params []*Values) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %q\n", c.Revision(), c.Binary, c.Mode, c.ConfigMap.Rollout)
	for _, v := range slices.SortedFunc(slices.Values(params), func(a, b *Values) int { return Older(a.ConfigMap, b.ConfigMap) }) {
		if slices.ContainsFunc(c.Units, func(u *Unit) bool { return v.For(u.Name()) || v.For(u.Document.Of) }) {
			fmt.Fprintf(h, "%s %s %q\n", v.Path(), v.Revision(), v.Binary)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
