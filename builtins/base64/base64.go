// Package base64 encodes and decodes texts, such as the values of Secrets.
package base64

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns base64.encode and base64.decode.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "base64.encode", Args: []expr.Type{expr.EitherOf(expr.String, expr.Bytes)}, Result: expr.String, Needs: need,
			Doc: "a text or bytes in standard base64, as in the data of a Secret", Example: `base64.encode(object.spec.password)`,
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				return value.OfString(base64.StdEncoding.EncodeToString(bytesOf(args[0]))), nil
			},
		},
		{
			Name: "base64.decode", Args: []expr.Type{expr.String}, Result: expr.String, Needs: need,
			Doc: "the text that standard base64 stands for, with or without padding; an error when it is not base64 or not UTF-8", Example: `base64.decode(object.data["ca.crt"])`,
			Do: decode,
		},
	}
}

// bytesOf returns those of a text, or bytes as they are.
func bytesOf(v value.Value) []byte {
	if b, ok := v.Value().([]byte); ok {
		return b
	}
	text, _ := value.Str(v)
	return []byte(text)
}

func need(args []value.Value) expr.Need {
	n := base64.StdEncoding.EncodedLen(len(bytesOf(args[0])))
	return expr.Need{Work: 1 + expr.Units(n, 10), Text: n, Scratch: 2 * n}
}

func decode(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[0])
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil { // the padding may be left out
		out, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the text is not base64: %w", err)
	}
	if !utf8.Valid(out) {
		return nil, errors.New("what the base64 stands for is not a text in UTF-8; if it is a value of a Secret, the policy lacks the allowance values and sees a digest")
	}
	return value.OfString(string(out)), nil
}
