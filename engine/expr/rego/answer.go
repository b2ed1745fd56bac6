package rego

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// question is what Request.Query holds: appendQuestion writes it before the
// input.
type question struct {
	// text names the rule; file is a test's, whose last expression that does not
	// hold is wanted.
	text, file string
	now        time.Time
}

func appendQuestion(b []byte, q question) []byte {
	b = appendText(b, tagText, q.text)
	b = appendText(b, tagText, q.file)
	return appendInt(b, q.now.UnixNano())
}

func readQuestion(m *message) (q question, err error) {
	read := func(tag byte) bool { return m.tag() == tag }
	if read(tagText) {
		q.text = m.text()
	}
	if read(tagText) {
		q.file = m.text()
	}
	if read(tagInt) {
		q.now = time.Unix(0, m.int())
	}
	if m.bad || q.text == "" {
		return q, errMangled
	}
	return q, nil
}

// failure is why there is no result, as plain data. Its place is in a module's
// text.
type failure struct {
	Code    code
	Message string
	At      document.Position
	// Unmet is the last expression of a test that does not hold.
	Unmet document.Position
}

// code tells the errors apart that somebody asks about.
type code string

const (
	codeUndefined code = "undefined"
	codeSteps     code = "steps"
	codeLarge     code = "large"
	codeStopped   code = "stopped"
	codeError     code = "error"
)

// stepsSize is how many bytes the count of steps has.
const stepsSize = 8

// answer evaluates a query. What it returns begins with the steps it took and
// holds a value, or else a failure as JSON.
func (p *program) answer(ctx context.Context, query []byte) []byte {
	l := &limiter{ctx: ctx}
	out := make([]byte, stepsSize, 64)
	var unmet lastFailure
	out, err := p.evaluate(l, &message{rest: query}, &unmet, append(out, tagTrue))
	if err != nil {
		f := p.failure(err)
		f.Unmet = p.sources.at(unmet.at)
		text, err := json.Marshal(f)
		if err != nil {
			panic(err) // it is texts and numbers
		}
		out = append(append(out[:stepsSize], tagFalse), text...)
	}
	binary.BigEndian.PutUint64(out, uint64(l.steps))
	return out
}

func (p *program) evaluate(l *limiter, m *message, unmet *lastFailure, out []byte) ([]byte, error) {
	question, err := readQuestion(m)
	if err != nil {
		return out, err
	}
	input, err := readInput(m)
	if err != nil {
		return out, err
	}
	q, err := p.prepare(question.text)
	if err != nil {
		return out, err
	}
	var tracers []topdown.QueryTracer
	if unmet.file = question.file; unmet.file != "" {
		tracers = append(tracers, unmet)
	}
	if seen, ok := l.ctx.Value(placesKey{}).(func(document.Position)); ok {
		tracers = append(tracers, &lineTracer{p.sources, seen})
	}
	result, err := p.run(q, l, question.now, input, tracers...)
	if err != nil {
		return out, err
	}
	return appendResult(out, result)
}

// failure words an error without values of the input.
func (p *program) failure(err error) failure {
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		return failure{Code: codeError, Message: masked(e), At: p.sources.at(e.Location)}
	}
	codes := []struct {
		is   error
		code code
	}{
		{ErrUndefined, codeUndefined}, {errSteps, codeSteps}, {value.ErrResultTooLarge, codeLarge},
		{context.Canceled, codeStopped}, {context.DeadlineExceeded, codeStopped},
	}
	for _, c := range codes {
		if errors.Is(err, c.is) {
			return failure{Code: c.code}
		}
	}
	return failure{Code: codeError, Message: err.Error()}
}

// lastFailure follows a test and keeps the expression of the test's file that
// did not hold last.
type lastFailure struct {
	file string
	at   *ast.Location
}

var _ topdown.QueryTracer = (*lastFailure)(nil)

// Enabled implements topdown.QueryTracer.
func (*lastFailure) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*lastFailure) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (f *lastFailure) TraceEvent(e topdown.Event) {
	if e.Op == topdown.FailOp && e.Location != nil && e.Location.File == f.file {
		f.at = e.Location
	}
}
