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

// Generic returns a value as its JSON says it: maps, lists, texts, truths, whole numbers as
// int64 and others as float64, so that values of different types compare equal. One that
// cannot be written as JSON becomes the text of the error.
func Generic(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return err.Error()
	}
	return numbers(out)
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
