package schema

import (
	"strings"
	"testing"
)

// TestRefused: values that a schema does not allow, and what it does.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		schema string
		value  any
		want   string
	}{
		"at most":                      {`"type": "integer", "maximum": 10`, int64(11), "cannot be 11 / at most 10"},
		"just as much":                 {`"type": "integer", "maximum": 10`, int64(10), ""},
		"less than":                    {`"type": "integer", "maximum": 10, "exclusiveMaximum": true`, int64(10), "cannot be 10 / less than 10"},
		"at least":                     {`"type": "number", "minimum": 0.5`, 0.25, "cannot be 0.25 / at least 0.5"},
		"more than":                    {`"type": "number", "minimum": 0, "exclusiveMinimum": true`, int64(0), "cannot be 0 / more than 0"},
		"a multiple":                   {`"type": "integer", "multipleOf": 5`, int64(7), "cannot be 7 / a multiple of 5"},
		"one of some numbers":          {`"type": "integer", "enum": [1, 2]`, int64(3), "cannot be 3 / one of 1, 2"},
		"one of the numbers":           {`"type": "integer", "enum": [1, 2]`, int64(2), ""},
		"more than 32 bits":            {`"type": "integer", "format": "int32"`, int64(1) << 31, "cannot be 2147483648 / a 32-bit integer"},
		"less than 32 bits":            {`"type": "integer", "format": "int32"`, -int64(1)<<31 - 1, "cannot be -2147483649 / a 32-bit integer"},
		"32 bits":                      {`"type": "integer", "format": "int32"`, -int64(1) << 31, ""},
		"64 bits":                      {`"type": "integer", "format": "int64"`, int64(1) << 31, ""},
		"32 bits and a maximum":        {`"type": "integer", "format": "int32", "maximum": 10`, int64(11), "at most 10"},
		"a number of another sort":     {`"type": "integer", "maximum": 1`, 1.5, ""},
		"a pattern":                    {`"type": "string", "pattern": "^[a-z]+$"`, "A", `cannot be "A" / it must match ^[a-z]+$`},
		"a pattern in the middle":      {`"type": "string", "pattern": "[a-z]"`, "AbC", ""},
		"a pattern of ECMAScript only": {`"type": "string", "pattern": "^(?!x)"`, "x", ""},
		"too long":                     {`"type": "string", "maxLength": 2`, "äöü", "cannot have 3 characters / at most 2 characters"},
		"long enough in characters":    {`"type": "string", "maxLength": 3, "minLength": 3`, "äöü", ""},
		"too short":                    {`"type": "string", "minLength": 1`, "", `cannot be "" / at least 1 character`},
		"one of some texts":            {`"type": "string", "enum": ["a", "b"]`, "c", `cannot be "c" / one of a, b`},
		"no date-time":                 {`"type": "string", "format": "date-time"`, "2026-03-01", `cannot be "2026-03-01" / a date-time such as 2026-03-01T12:00:00Z`},
		"a date-time":                  {`"type": "string", "format": "date-time"`, "2026-03-01T12:00:00.5+01:00", ""},
		"too many items":               {`"type": "array", "maxItems": 1`, []any{"a", "b"}, "cannot have 2 items / at most 1 item"},
		"too few items":                {`"type": "array", "minItems": 1`, []any{}, "cannot have 0 items / at least 1 item"},
		"too few items of this writer": {`"type": "array", "minItems": 1, "x-kubernetes-list-type": "set"`, []any{}, ""},
		"a boolean for a port":         {`"x-kubernetes-int-or-string": true`, true, "cannot be true / an integer or a string"},
		"a fraction for a port":        {`"x-kubernetes-int-or-string": true`, 1.5, "cannot be 1.5 / an integer or a string"},
		"a whole fraction":             {`"x-kubernetes-int-or-string": true`, 2.0, ""},
		"a large port":                 {`"x-kubernetes-int-or-string": true`, int64(1) << 40, ""},
		"a form of a port":             {`"x-kubernetes-int-or-string": true, "pattern": "%$"`, "50", "it must match %$"},
		"an unknown port":              {`"format": "int-or-string"`, true, ""},
		"a boolean":                    {`"type": "boolean"`, true, ""},
		"null":                         {`"type": "string", "minLength": 1`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := NewSet(nil)
			if err := set.AddCRD(crd(`{"type": "object", "properties": {"x": {` + tc.schema + `}}}`)); err != nil {
				t.Fatal(err)
			}
			reason, allowed := set.Of(GVK{"example.com/v1", "Widget"}).Field("x").Refused(tc.value)
			if got := reason + " / " + allowed; !strings.Contains(got, tc.want) || (reason == "") != (tc.want == "") {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestRefusedByBuiltinKinds: their types of Go are all that their schemas say.
func TestRefusedByBuiltinKinds(t *testing.T) {
	t.Parallel()
	deployment, lease := Builtin().Of(GVK{"apps/v1", "Deployment"}), Builtin().Of(GVK{"coordination.k8s.io/v1", "Lease"})
	surge := at(deployment, "spec", "strategy", "rollingUpdate", "maxSurge")
	for _, tc := range []struct {
		of    *Type
		value any
		want  string
	}{
		{at(deployment, "spec", "replicas"), int64(3000000000), "a 32-bit integer"},
		{at(deployment, "spec", "replicas"), int64(-1), "at least 0"},
		{at(deployment, "spec", "progressDeadlineSeconds"), int64(-1), ""}, // refused by code
		{surge, true, "an integer or a string"},
		{surge, int64(1) << 31, "a 32-bit integer"},
		{surge, "25%", ""},
		{at(lease, "spec", "renewTime"), "2026-03-01 12:00", "a date-time such as 2026-03-01T12:00:00Z"},
		{at(lease, "spec", "renewTime"), "2026-03-01T12:00:00.000000Z", ""},
	} {
		if _, allowed := tc.of.Refused(tc.value); allowed != tc.want {
			t.Errorf("%v: %q, want %q", tc.value, allowed, tc.want)
		}
	}
}
