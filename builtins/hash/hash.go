// Package hash offers digests of texts.
package hash

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns hash.sha256, hash.fnv1a128 and hash.configData.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "hash.sha256", Args: []expr.Type{expr.String}, Result: expr.String,
			Doc: "the SHA-256 digest of a text, 64 lower-case hex digits", Example: `hash.sha256("a")`,
			Needs: expr.Linear(64),
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				text, _ := value.Str(args[0])
				sum := sha256.Sum256([]byte(text))
				return value.OfString(hex.EncodeToString(sum[:])), nil
			},
		},
		{
			Name: "hash.fnv1a128", Args: []expr.Type{expr.String}, Result: expr.String,
			Doc: "the 128-bit FNV-1a hash of a text, 32 lower-case hex digits", Example: `hash.fnv1a128("a")`,
			Needs: expr.Linear(64),
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				text, _ := value.Str(args[0])
				h := fnv.New128a()
				_, _ = h.Write([]byte(text)) // a hash never fails
				return value.OfString(hex.EncodeToString(h.Sum(nil))), nil
			},
		},
		{
			Name: "hash.configData", Args: []expr.Type{expr.Dyn}, Result: expr.String,
			Doc: "the digest of the data of a ConfigMap or Secret, 64 lower-case hex digits", Example: `hash.configData(object)`,
			Needs: configNeed,
			Do:    configData,
		},
	}
}
