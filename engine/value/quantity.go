package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxExponent bounds the exponent of a quantity, in both directions. The library computes
// the power of ten when it adds or compares, which for 1e2000000000 takes hours and
// gigabytes; the largest suffix, E, is 1e18.
const maxExponent = 100

// ParseQuantity reads a quantity as the API machinery does, but fails for an exponent that
// is so large that nothing could be computed with it.
func ParseQuantity(text string) (resource.Quantity, error) {
	if !QuantityFits(text) {
		return resource.Quantity{}, fmt.Errorf("the exponent of the quantity %s is not between -%d and %d", Cut(text, 64), maxExponent, maxExponent)
	}
	return resource.ParseQuantity(text)
}

// QuantityFits reports whether something can be computed with a quantity; also of a text
// that is none.
func QuantityFits(text string) bool {
	at := strings.LastIndexAny(text, "eE")
	if at < 0 {
		return true
	}
	exponent, err := strconv.ParseInt(text[at+1:], 10, 64)
	if err != nil { // of what is no number, or a suffix, nothing is computed
		return !errors.Is(err, strconv.ErrRange)
	}
	return -maxExponent <= exponent && exponent <= maxExponent
}
