package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// defaults gives an object the defaults of its schema.
func (n normalizer) defaults(o Object, s *spec.Schema) {
	for field := range s.Properties {
		property := s.Properties[field]
		if _, has := o[field]; has || property.Default == nil || n.typed && isZero(property.Default) {
			continue
		}
		o[field] = n.value(plainDefault(property.Default), nil, &property)
	}
}

// isZero reports whether a value is only what a field of Go has before anything is said:
// such a field is mostly left out when it is written.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case float64:
		return v == 0
	case bool:
		return !v
	case Object:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// plainDefault copies a default, with whole numbers as int64.
func plainDefault(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
		return v
	case Object:
		out := Object{}
		for field, x := range v {
			out[field] = plainDefault(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plainDefault(x)
		}
		return out
	default:
		return runtime.DeepCopyJSONValue(v)
	}
}
