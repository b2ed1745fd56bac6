package plan

import (
	"fmt"
	"time"
)

// GraceSeconds reads the grace period of a deletion or an eviction, a duration in whole
// seconds, and returns their number.
func GraceSeconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d%time.Second != 0 {
		return 0, fmt.Errorf("gracePeriod is a duration in whole seconds, such as 30s, not %q", text)
	}
	return int64(d / time.Second), nil
}
