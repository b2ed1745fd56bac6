package rego

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/value"
)

// Limits of one input, written out: a part that stands in it twice counts
// twice.
const (
	MaxInputNodes = value.MaxResultNodes
	MaxInputBytes = 4 << 20
)

// ErrInputTooLarge reports that an input has more nodes or bytes than allowed.
var ErrInputTooLarge = errors.New("the input is larger than allowed")

// appendInput writes a value as Rego is to see it, and returns how many nodes it
// has. Fields and items without a value are left out; times and durations are
// texts.
func appendInput(b []byte, v value.Value) (out []byte, nodes int, err error) {
	w := inputWriter{out: b, nodes: MaxInputNodes, bytes: MaxInputBytes}
	if v = value.Unwrap(v); v == nil {
		v = value.Null
	}
	err = w.value(v)
	return w.out, MaxInputNodes - w.nodes, err
}

type inputWriter struct {
	out          []byte
	nodes, bytes int
}

// value writes a value that is there.
func (w *inputWriter) value(v value.Value) error {
	if w.nodes--; w.nodes < 0 {
		return ErrInputTooLarge
	}
	switch v := v.(type) {
	case *value.Map:
		return w.object(v)
	case *value.List:
		return w.list(v)
	case types.String:
		return w.text(string(v))
	case types.Null:
		w.out = append(w.out, tagNull)
		return nil
	case types.Bool:
		w.out = append(w.out, tagOf(bool(v)))
		return nil
	case types.Int:
		w.out = appendInt(w.out, int64(v))
		return nil
	}
	return w.rare(v)
}

func tagOf(b bool) byte {
	if b {
		return tagTrue
	}
	return tagFalse
}

// rare writes what is rarely in an input.
func (w *inputWriter) rare(v value.Value) error {
	switch v := v.(type) {
	case types.Uint:
		w.out = appendText(w.out, tagNumber, strconv.FormatUint(uint64(v), 10))
		return nil
	case types.Double:
		return w.double(float64(v))
	case types.Timestamp:
		return w.text(v.UTC().Format(time.RFC3339Nano))
	case types.Duration:
		return w.text(v.Duration.String())
	case *types.Err: // of a variable that failed
		return v
	}
	if m, ok := v.Value().(*value.Map); ok { // a map that somebody looks over
		return w.object(m)
	}
	if s, ok := value.Plain(v).(string); ok {
		return w.text(s)
	}
	return fmt.Errorf("a value of type %s cannot be given to Rego", v.Type().TypeName())
}

func (w *inputWriter) text(s string) error {
	if w.bytes -= len(s); w.bytes < 0 {
		return ErrInputTooLarge
	}
	w.out = appendText(w.out, tagText, s)
	return nil
}

// double writes a double with a point, as a literal has it: OPA takes a number without one
// for an integer, for which sprintf has other verbs.
func (w *inputWriter) double(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errors.New("a number that is not finite cannot be given to Rego")
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	w.out = appendText(w.out, tagNumber, text)
	return nil
}

func (w *inputWriter) list(l *value.List) error {
	w.out = append(w.out, tagList)
	for _, item := range l.Items() {
		if item = value.Unwrap(item); item == nil {
			continue
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, tagEnd)
	return nil
}

func (w *inputWriter) object(m *value.Map) error {
	w.out = append(w.out, tagObject)
	for i := range m.Len() {
		name, v := m.At(i)
		if v = value.Unwrap(v); v == nil {
			continue
		}
		if err := w.text(name); err != nil {
			return err
		}
		if err := w.value(v); err != nil {
			return err
		}
	}
	w.out = append(w.out, tagEnd)
	return nil
}

// readInput reads a value as the evaluator wants it.
func readInput(m *message) (*ast.Term, error) {
	t := m.term(m.tag())
	if m.bad || t == nil {
		return nil, errMangled
	}
	return t, nil
}

// term reads what follows a tag; nil at the end of a list or an object.
func (m *message) term(tag byte) *ast.Term {
	switch tag {
	case tagNull:
		return ast.InternedNullTerm
	case tagTrue, tagFalse:
		return ast.InternedTerm(tag == tagTrue)
	case tagInt:
		return ast.InternedTerm(m.int())
	case tagNumber:
		return ast.NewTerm(ast.Number(m.text()))
	case tagText:
		return ast.InternedTerm(m.text())
	case tagList:
		var items []*ast.Term
		for item := m.term(m.tag()); item != nil; item = m.term(m.tag()) {
			items = append(items, item)
		}
		return ast.ArrayTerm(items...)
	case tagObject:
		var fields [][2]*ast.Term
		for key := m.term(m.tag()); key != nil; key = m.term(m.tag()) {
			field := m.term(m.tag())
			if field == nil {
				m.bad = true
				return nil
			}
			fields = append(fields, [2]*ast.Term{key, field})
		}
		return ast.ObjectTerm(fields...)
	case tagEnd:
	default:
		m.bad = true
	}
	return nil
}
