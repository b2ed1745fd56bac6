package simulate

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Memory is what keys of policies remember, by policy, key and name.
type Memory map[string]map[eval.Key]map[string]value.Value

// Fields of a mapping that stands for a value which YAML and JSON do not have.
const (
	timestampField = "$timestamp"
	durationField  = "$duration"
)

// MemoryValue returns a remembered value as plain values: a timestamp as
// {$timestamp: RFC 3339}, a duration as {$duration: 10m}.
func MemoryValue(v value.Value) any {
	if at, ok := value.Time(v); ok {
		return map[string]any{timestampField: at.UTC().Format(time.RFC3339Nano)}
	}
	if d, ok := value.Duration(v); ok {
		return map[string]any{durationField: d.String()}
	}
	switch v := value.Unwrap(v).(type) {
	case *value.Map:
		out := map[string]any{}
		for i := range v.Len() {
			name, field := v.At(i)
			out[name] = MemoryValue(field)
		}
		return out
	case *value.List:
		out := []any{}
		for _, item := range v.Items() {
			out = append(out, MemoryValue(item))
		}
		return out
	default:
		return value.Plain(v)
	}
}

// ParseMemory reads {policy: {key: {name: value}}}, as MemoryValue writes values.
func ParseMemory(document map[string]any) (Memory, error) {
	out := Memory{}
	for policy, v := range document {
		keys, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("remembered: %s: must be {key: {name: value}}", policy)
		}
		out[policy] = map[eval.Key]map[string]value.Value{}
		for key, v := range keys {
			names, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("remembered: %s: %s: must be {name: value}", policy, key)
			}
			values := map[string]value.Value{}
			for name, v := range names {
				parsed, err := memoryValue(v)
				if err != nil {
					return nil, fmt.Errorf("remembered: %s: %s: %s: %w", policy, key, name, err)
				}
				values[name] = parsed
			}
			out[policy][eval.ParseKey(key)] = values
		}
	}
	return out, nil
}

func memoryValue(v any) (value.Value, error) {
	switch v := v.(type) {
	case map[string]any:
		return memoryMap(v)
	case []any:
		items := make([]value.Value, len(v))
		for i, item := range v {
			var err error
			if items[i], err = memoryValue(item); err != nil {
				return nil, err
			}
		}
		return value.NewList(items), nil
	default:
		return value.Freeze(v, nil, value.KeepAll), nil
	}
}

func memoryMap(m map[string]any) (value.Value, error) {
	if text, ok := m[timestampField].(string); ok && len(m) == 1 {
		at, err := time.Parse(time.RFC3339, text)
		return value.OfTime(at), err
	}
	if text, ok := m[durationField].(string); ok && len(m) == 1 {
		d, err := time.ParseDuration(text)
		return value.OfDuration(d), err
	}
	fields := make(map[string]value.Value, len(m))
	for name, v := range m {
		var err error
		if fields[name], err = memoryValue(v); err != nil {
			return nil, err
		}
	}
	return value.FromMap(fields), nil
}
