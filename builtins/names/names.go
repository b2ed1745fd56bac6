// Package names takes object names apart and keeps them within their limits.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns names.limit and names.number.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "names.limit", Args: []expr.Type{expr.String, expr.Int}, Result: expr.String,
			Doc:     "a name within a limit: a longer one is cut and ends in - and the first 10 hex digits of its SHA-256",
			Example: `names.limit("kmm-worker-" + key.name, 63)`,
			Needs:   limitNeed,
			Do:      limit,
		},
		{
			Name: "names.number", Args: []expr.Type{expr.String}, Result: expr.String,
			Doc:     "the digits after the last - of a name, without leading zeros; \"\" when there are none",
			Example: `names.number("volume-07") == "7"`,
			Needs:   expr.Linear(64),
			Do:      number,
		},
	}
}

// hashLength is the length of a cut name's hash with its dash.
const hashLength = 11

// limitNeed is for a text of at most the limit.
func limitNeed(args []value.Value) expr.Need {
	need := expr.Linear(0)(args)
	most, _ := value.Int(args[1])
	need.Text = int(min(int64(value.Size(args[0])), max(most, 0)))
	return need
}

func limit(_ *expr.Call, args []value.Value) (value.Value, error) {
	name, _ := value.Str(args[0])
	most, _ := value.Int(args[1])
	if int64(len(name)) <= most {
		return args[0], nil
	}
	if most <= hashLength {
		return nil, fmt.Errorf("the limit must be more than %d", hashLength)
	}
	sum := sha256.Sum256([]byte(name))
	cut := int(most) - hashLength
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut-- // half a character would not be a text
	}
	start := strings.TrimRight(name[:cut], ".") // a dash after a dot is in no name of an object
	return value.OfString(start + "-" + hex.EncodeToString(sum[:])[:hashLength-1]), nil
}

func number(_ *expr.Call, args []value.Value) (value.Value, error) {
	name, _ := value.Str(args[0])
	before := strings.TrimRight(name, "0123456789")
	digits := name[len(before):]
	if digits == "" || !strings.HasSuffix(before, "-") {
		return value.OfString(""), nil
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return value.OfString(digits), nil
}
