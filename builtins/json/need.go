package json

import (
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// What reading a text takes in memory, for each mark in it that begins or ends
// a value, and for each object beyond that.
const (
	markBytes     = 96
	objectBytes   = 400
	yamlMarkBytes = 320
)

// most is where measuring a value ends.
const most = expr.TextBytes

// encoding is the need of writing a value as JSON.
func encoding(args []value.Value) expr.Need {
	w := value.Measure(args[0], most)
	return expr.Need{Work: 1 + expr.Units(w.JSON, 10), Text: w.JSON, Scratch: w.Plain + 3*w.JSON}
}

// yamlEncoding is the need of writing a value as YAML: its JSON is read again, after
// what YAML does not allow was escaped.
func yamlEncoding(args []value.Value) expr.Need {
	w := value.Measure(args[0], most)
	return expr.Need{Work: 1 + expr.Units(w.JSON+w.YAML, 1), Text: w.YAML, Scratch: 3*w.Plain + 4*w.JSON + 3*w.YAML}
}

// decoding is the need of reading a JSON text.
func decoding(args []value.Value) expr.Need {
	text, _ := value.Str(args[0])
	bytes := len(text) + markBytes*marks(text, "[,:{") + objectBytes*strings.Count(text, "{")
	return expr.Need{Work: 1 + expr.Units(len(text), 10), Bytes: bytes, Scratch: 2 * bytes}
}

// yamlDecoding is the need of reading a YAML text, with its aliases in full.
func yamlDecoding(args []value.Value) expr.Need {
	text, _ := value.Str(args[0])
	n := marks(text, "[,:{-\n*")
	return expr.Need{
		Work: 1 + expr.Units(len(text), 1), Bytes: 2*len(text) + markBytes*n + objectBytes*strings.Count(text, ":")/2,
		Scratch: 4*len(text) + yamlMarkBytes*n,
	}
}

func marks(text, set string) (n int) {
	for i := range len(text) {
		if strings.IndexByte(set, text[i]) >= 0 {
			n++
		}
	}
	return n
}
