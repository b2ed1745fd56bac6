// Package json reads and writes JSON and YAML texts inside expressions.
package json

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns json.encode, json.decode, json.parse, yaml.encode and yaml.decode.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "json.encode", Args: []expr.Type{expr.Dyn}, Result: expr.String,
			Doc: "a value as compact JSON with sorted keys", Example: `json.encode(entry.config)`,
			Needs: encoding,
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				var out strings.Builder
				encoder := json.NewEncoder(&out)
				encoder.SetEscapeHTML(false)
				if err := encoder.Encode(value.Plain(args[0])); err != nil {
					return nil, err
				}
				return value.OfString(strings.TrimSuffix(out.String(), "\n")), nil
			},
		},
		{
			Name: "json.decode", Args: []expr.Type{expr.String}, Result: expr.Dyn,
			Doc: "the value of a JSON text", Example: `json.decode(pod.metadata.annotations["config"])`,
			Needs: decoding,
			Do:    decode,
		},
		{
			Name: "json.parse", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Dyn),
			Doc: "the value of a JSON text; none for what is not JSON", Example: `json.parse(pod.metadata.annotations["config"]).orValue({})`,
			Needs: decoding,
			Do: func(call *expr.Call, args []value.Value) (value.Value, error) {
				v, err := decode(call, args)
				if err != nil {
					return value.None, nil //nolint:nilerr // what is not JSON has none
				}
				return value.Some(v), nil
			},
		},
		{
			Name: "yaml.encode", Args: []expr.Type{expr.Dyn}, Result: expr.String,
			Doc: "a value as YAML with sorted keys", Example: `yaml.encode(entry.config)`,
			Needs: yamlEncoding,
			Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
				text, err := document.YAML(value.Plain(args[0]))
				return value.OfString(string(text)), err
			},
		},
		{
			Name: "yaml.decode", Args: []expr.Type{expr.String}, Result: expr.Dyn,
			Doc: "the value of a YAML text", Example: `yaml.decode(pod.metadata.annotations["config"])`,
			Needs: yamlDecoding,
			Do: func(call *expr.Call, args []value.Value) (value.Value, error) {
				text, _ := value.Str(args[0])
				if err := cmp.Or(checkAliases(text), oneDocument(text)); err != nil {
					return nil, err
				}
				raw, err := yaml.YAMLToJSONStrict([]byte(text))
				if err != nil {
					return nil, err
				}
				return decode(call, []value.Value{value.OfString(string(raw))})
			},
		},
	}
}

func decode(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[0])
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var raw any
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return value.Freeze(raw, nil, value.KeepAll), nil
}
