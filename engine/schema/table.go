package schema

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"
)

// Table reads an embedded table in JSON when it is first used. It panics if that is none.
func Table[T any](of string, text []byte) func() map[string]T {
	return sync.OnceValue(func() (out map[string]T) {
		if err := json.Unmarshal(text, &out); err != nil {
			panic(fmt.Sprintf("the embedded table of %s: %v", of, err))
		}
		return out
	})
}
