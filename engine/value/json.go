package value

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
)

// Plain returns the value as plain JSON values for encoding/json and for the
// API machinery: nil, bool, int64, float64, string, []any, map[string]any.
func Plain(v Value) any {
	switch v := v.(type) {
	case nil:
		return nil
	case *Map:
		out := make(map[string]any, len(v.vals))
		for i, k := range v.keys() {
			out[k] = Plain(v.vals[i])
		}
		return out
	case *List:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = Plain(item)
		}
		return out
	case *types.Optional:
		if v.HasValue() {
			return Plain(v.GetValue())
		}
		return nil
	default:
		return plainScalar(v)
	}
}

func plainScalar(v Value) any {
	switch v := v.(type) {
	case types.Null:
		return nil
	case types.Bool:
		return bool(v)
	case types.Int:
		return int64(v)
	case types.Uint:
		if v > math.MaxInt64 {
			return float64(v) // as the API server reads a number of that size
		}
		return int64(v)
	case types.Double:
		return float64(v)
	case types.String:
		return string(v)
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v)
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano)
	case types.Duration:
		return v.Duration.String()
	default:
		return fmt.Sprint(v.Value())
	}
}

// Text returns a value as it appears inside a longer string of a template.
func Text(v Value) (string, error) {
	if text, ok := v.(types.String); ok {
		return string(text), nil
	}
	if u, ok := v.(types.Uint); ok {
		return strconv.FormatUint(uint64(u), 10), nil
	}
	if sizesOf(v) != nil {
		return "", errors.New("a list or an object cannot be written inside a text")
	}
	switch p := Plain(v).(type) {
	case string:
		return p, nil
	case bool:
		return strconv.FormatBool(p), nil
	case int64:
		return strconv.FormatInt(p, 10), nil
	case float64:
		return number(p)
	case nil:
		return "", errors.New("null cannot be written inside a text")
	default:
		return "", errors.New("a list or an object cannot be written inside a text")
	}
}

// number writes a number as JSON does.
func number(f float64) (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("%v cannot be written inside a text: it is no number of JSON", f)
	}
	return string(text), nil
}

// Str returns a string's content, and whether the value is a string.
func Str(v Value) (string, bool) {
	s, ok := v.(types.String)
	return string(s), ok
}

// Path follows field names from an object; nil where one is absent.
func Path(v Value, path ...string) Value {
	for _, name := range path {
		m, ok := v.(*Map)
		if !ok {
			return nil
		}
		v = m.Lookup(name)
	}
	return v
}

// StringAt returns the string at a path, "" where there is none.
func StringAt(v Value, path ...string) string {
	s, _ := Str(Path(v, path...))
	return s
}

// Cut shortens a text to at most n bytes, on the boundary of a character.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
