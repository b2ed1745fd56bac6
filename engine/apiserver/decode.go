package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// Decode reads a manifest in JSON, with whole numbers as int64.
func Decode(text []byte) (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var out Object
	if err := decoder.Decode(&out); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("more than one JSON document")
	}
	o, _ := numbers(out).(Object)
	return o, nil
}

// Generic returns a value as a decoder of JSON gives it: maps, lists, texts, float64
// and truths, so that values of different types compare equal. One that cannot be
// written as JSON becomes the text of the error.
func Generic(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return err.Error()
	}
	return out
}

func numbers(v any) any {
	switch v := v.(type) {
	case Object:
		for k, x := range v {
			v[k] = numbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = numbers(x)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return math.NaN()
		}
		return f
	}
	return v
}
