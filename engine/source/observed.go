package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Observed is a short hash of what the status of a ConfigMap of policies takes into
// account: its data, its mode and its rollout, the older ConfigMaps that have a policy of
// it, too, and the ConfigMaps of params with values for its policies.
func (c *Catalog) Observed(contents *Contents) string {
	return hashed(func(w io.Writer) {
		fmt.Fprintf(w, "%s %q %q %q\n", contents.Revision(), contents.Binary, contents.Mode, contents.ConfigMap.Rollout)
		for _, first := range c.rivals[contents.Path()] {
			first.name(w)
		}
		for _, v := range c.Values {
			if v.forSome(contents) {
				v.name(w)
			}
		}
	})
}

// ObservedParams is the same for a ConfigMap of params: its data, the other ConfigMaps with
// values for a policy that it has some for, and the policies.
func (c *Catalog) ObservedParams(v *Values) string {
	return hashed(func(w io.Writer) {
		v.name(w)
		for _, other := range c.Values {
			if other != v && v.forSame(other) {
				other.name(w)
			}
		}
		for _, contents := range c.Contents {
			if v.forSome(contents) {
				contents.name(w)
				fmt.Fprintf(w, "%q\n", contents.Mode)
			}
		}
	})
}

// forSome reports whether there are values for a policy of a ConfigMap.
func (v *Values) forSome(contents *Contents) bool {
	return slices.ContainsFunc(contents.Units, func(u *Unit) bool { return v.For(u.Name()) || v.For(u.Document.Of) })
}

// forSame reports whether two ConfigMaps have values for one policy.
func (v *Values) forSame(other *Values) bool {
	for policy := range maps.Keys(v.Overrides) {
		if other.For(policy) {
			return true
		}
	}
	for policy := range maps.Keys(v.Unread) {
		if other.For(policy) {
			return true
		}
	}
	return false
}

// name writes which ConfigMap it is, and what is in it.
func (c *ConfigMap) name(w io.Writer) { fmt.Fprintf(w, "%s %s %q\n", c.Path(), c.Revision(), c.Binary) }

func hashed(write func(io.Writer)) string {
	h := sha256.New()
	write(h)
	return hex.EncodeToString(h.Sum(nil))[:12]
}
