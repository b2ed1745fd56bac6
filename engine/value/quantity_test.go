package value

import "testing"

// TestQuantityFits: what is no exponent, or a suffix, is none that is too large.
func TestQuantityFits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1": true, "1.5Gi": true, "1E": true, "1Ei": true, "1e3": true, "1e100": true, "1e-100": true, "-1E+18": true, "": true, "e": true, "text": true, "1e1x": true,
		"1e101": false, "1e-101": false, "1e2000000000": false, "1E-2000000000": false, "1e99999999999999999999999": false, "1e1e2000000000": false,
	} {
		if got := QuantityFits(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
		if q, err := ParseQuantity(text); err == nil {
			q.Add(q) // ends soon
		}
	}
}
