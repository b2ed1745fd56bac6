package cel

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// parts are the pieces of a text with expressions in it.
type parts []part

// part is a piece of a text: literal or an expression.
type part struct {
	literal string
	program *Program
}

// source returns the text as it is written.
func (ps parts) source() string {
	var out strings.Builder
	for _, p := range ps {
		out.WriteString(p.literal)
		if p.program != nil {
			out.WriteString("${" + p.program.Source() + "}")
		}
	}
	return out.String()
}

// join puts the pieces of a text together, when it is known that they fit.
func (ps parts) join(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	pieces, size := make([]string, len(ps)), 0
	for i, p := range ps {
		piece := p.literal
		if p.program != nil {
			v, err := p.program.Eval(scope, meter)
			if err != nil {
				return nil, err
			}
			if piece, err = value.Text(v); err != nil {
				return nil, p.program.fail(err)
			}
		}
		pieces[i] = piece
		if size += len(piece); size > value.MaxResultBytes {
			return nil, fmt.Errorf("%w: a text with more than %d bytes; build shorter texts, or name fewer parts", value.ErrResultTooLarge, value.MaxResultBytes)
		}
	}
	if err := meter.Allocate("a text with ${...}", size, size); err != nil {
		return nil, err
	}
	return value.OfString(strings.Join(pieces, "")), nil
}
