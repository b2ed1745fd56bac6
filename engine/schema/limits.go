package schema

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// limits are what a schema says of values beside their sort.
type limits struct {
	format, pattern                    string
	minimum, maximum, multipleOf       *float64
	exclusiveMinimum, exclusiveMaximum bool
	minLength, maxLength               *int64
	minItems, maxItems                 *int64
	enum                               []any
}

// narrow are the limits of a type of Go that has fewer integers than values have.
var narrow = &limits{format: "int32"}

// limitsOf returns the limits of a schema; nil for none.
func limitsOf(s *spec.Schema) *limits {
	l := limits{
		pattern: s.Pattern, minimum: s.Minimum, maximum: s.Maximum, multipleOf: s.MultipleOf,
		exclusiveMinimum: s.ExclusiveMinimum, exclusiveMaximum: s.ExclusiveMaximum,
		minLength: s.MinLength, maxLength: s.MaxLength, minItems: s.MinItems, maxItems: s.MaxItems,
	}
	if s.Type.Contains("integer") || s.Type.Contains("number") {
		l.enum = s.Enum // texts have those of the type
	}
	narrowed := s.Type.Contains("integer") && s.Format == narrow.format
	switch none := reflect.ValueOf(l).IsZero(); {
	case none && narrowed:
		return narrow
	case none:
		return nil
	case narrowed:
		l.format = s.Format
	}
	return &l
}

// Refused says why the API server refuses a plain value at a place of the type, which is of
// the sort that the type has, and what it allows; "" of a value that it may take. It looks
// at the value itself, not at what is in it.
func (t *Type) Refused(v any) (reason, allowed string) {
	switch v := v.(type) {
	case string:
		return t.refusedText(v)
	case int64, float64:
		return t.refusedNumber(v)
	case bool:
		if t.IntOrString {
			return fmt.Sprintf("cannot be %t", v), "an integer or a string"
		}
	case []any:
		return t.refusedList(int64(len(v)))
	}
	return "", ""
}

func (t *Type) refusedText(text string) (reason, allowed string) {
	cannot := func() string { return fmt.Sprintf("cannot be %q", text) }
	switch l := t.limits; {
	case len(t.Enum) > 0 && !slices.Contains(t.Enum, text):
		return cannot(), oneOf(t.Enum)
	case t.Kind == Time && !t.isTime(text):
		return cannot(), "a date-time such as 2026-03-01T12:00:00Z"
	case l == nil:
		return "", ""
	case l.maxLength != nil && validate.MaxLength("", "", text, *l.maxLength) != nil:
		return "cannot have " + count(int64(utf8.RuneCountInString(text)), "character"), "at most " + count(*l.maxLength, "character")
	case l.minLength != nil && validate.MinLength("", "", text, *l.minLength) != nil:
		return cannot(), "at least " + count(*l.minLength, "character")
	case !l.matches(text):
		return cannot(), "it must match " + l.pattern
	}
	return "", ""
}

// isTime reports whether a text is a time for whoever decodes the field: a type of Go, or
// the validation of custom kinds.
func (t *Type) isTime(text string) bool {
	if t.Cut == 0 {
		return strfmt.IsDateTime(text)
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// matches reports whether a text has the form of the pattern. One that cannot be compiled
// says nothing.
func (l *limits) matches(text string) bool {
	pattern, err := regexp.Compile(l.pattern)
	return err != nil || pattern.MatchString(text)
}

func (t *Type) refusedNumber(n any) (reason, allowed string) {
	cannot := func() string { return fmt.Sprintf("cannot be %v", n) }
	f, fraction := n.(float64)
	switch {
	case fraction && t.IntOrString && f != math.Trunc(f):
		return cannot(), "an integer or a string"
	case t.limits == nil || fraction && t.Kind == Int: // it is of another sort
		return "", ""
	}
	if allowed := t.limits.number(n); allowed != "" {
		return cannot(), allowed
	}
	return "", ""
}

// number returns what a number should be; "" of one that is allowed.
func (l *limits) number(n any) string {
	switch {
	case l.format == narrow.format && validate.IsValueValidAgainstRange(n, "integer", l.format, "", "") != nil:
		return "a 32-bit integer"
	case l.maximum != nil && validate.MaximumNativeType("", "", n, *l.maximum, l.exclusiveMaximum) != nil:
		return bound("at most", "less than", *l.maximum, l.exclusiveMaximum)
	case l.minimum != nil && validate.MinimumNativeType("", "", n, *l.minimum, l.exclusiveMinimum) != nil:
		return bound("at least", "more than", *l.minimum, l.exclusiveMinimum)
	case l.multipleOf != nil && validate.MultipleOfNativeType("", "", n, *l.multipleOf) != nil:
		return fmt.Sprintf("a multiple of %v", *l.multipleOf)
	case l.enum != nil && validate.Enum("", "", n, l.enum) != nil:
		return "one of " + strings.ReplaceAll(strings.Trim(fmt.Sprint(l.enum), "[]"), " ", ", ")
	}
	return ""
}

func (t *Type) refusedList(size int64) (reason, allowed string) {
	switch l := t.limits; {
	case l == nil:
		return "", ""
	case l.maxItems != nil && size > *l.maxItems:
		return "cannot have " + count(size, "item"), "at most " + count(*l.maxItems, "item")
	case l.minItems != nil && size < *l.minItems && !t.Merged: // others may add items
		return "cannot have " + count(size, "item"), "at least " + count(*l.minItems, "item")
	}
	return "", ""
}

func bound(inclusive, exclusive string, at float64, excluded bool) string {
	if excluded {
		return fmt.Sprintf("%s %v", exclusive, at)
	}
	return fmt.Sprintf("%s %v", inclusive, at)
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// oneOf says which values there are.
func oneOf(values []string) string {
	if len(values) == 1 {
		return "only " + values[0]
	}
	return "one of " + strings.Join(values, ", ")
}
