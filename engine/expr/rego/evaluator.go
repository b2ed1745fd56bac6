package rego

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// MaxTime is how much processor time an evaluator may take for one request. It
// is a last resort: functions of Rego cannot be counted while they run.
const MaxTime = 5 * time.Second

// Evaluator compiles and runs modules. It is safe for concurrent use.
type Evaluator interface {
	// Do answers a request. The errors are those of an expr.Limiter.
	Do(ctx context.Context, r *Request) ([]byte, error)
}

// Request is something to do with modules.
type Request struct {
	// ID stands for the modules: an evaluator keeps what it has compiled.
	ID      string
	Modules []Module
	// Query is what to evaluate; nil asks for what the modules compile to.
	Query []byte
}

// Question is the same for all requests that ask the same query about the same input, at
// whatever time.
func (r *Request) Question() string {
	m := &message{rest: r.Query}
	q, err := readQuestion(m)
	if err != nil {
		m.rest = r.Query
	}
	sum := sha256.New()
	sum.Write([]byte(q.text + "\x00" + q.file + "\x00"))
	sum.Write(m.rest)
	return string(sum.Sum(nil))
}

// encode writes a request for Programs.Handle, with or without the modules.
func (r *Request) encode(whole bool) []byte {
	var modules []byte
	if whole {
		modules, _ = json.Marshal(r.Modules) // they are texts
	}
	b := appendText(make([]byte, 0, len(modules)+len(r.Query)+128), tagText, r.ID)
	b = appendText(b, tagText, string(modules))
	if r.Query == nil {
		return append(b, tagNull)
	}
	return append(append(b, tagTrue), r.Query...)
}

// decode reads what encode has written; whole reports whether it has the modules.
func decode(body []byte) (r *Request, whole bool) {
	m := &message{rest: body[1:]}
	r = &Request{ID: m.text()}
	m.tag()
	whole = json.Unmarshal([]byte(m.text()), &r.Modules) == nil
	if m.tag() == tagTrue {
		r.Query = m.rest
	}
	return r, whole
}

// MaxPrograms is how many sets of modules an evaluator keeps.
const MaxPrograms = 64

// Programs are the modules that an evaluator has compiled, by ID.
type Programs struct {
	mu    sync.Mutex
	known map[string]*program
}

// Do answers a request in this process, whatever it takes.
func (p *Programs) Do(ctx context.Context, r *Request) []byte {
	one := p.load(r)
	if r.Query == nil {
		return one.describe()
	}
	return one.answer(ctx, r.Query)
}

// Handle answers a request of a Remote. What it returns begins with tagTrue, unless it needs
// the modules.
func (p *Programs) Handle(ctx context.Context, body []byte) []byte {
	r, whole := decode(body)
	if !whole && !p.has(r.ID) {
		return []byte{tagFalse}
	}
	return append([]byte{tagTrue}, p.Do(ctx, r)...)
}

// has reports whether the modules of an ID are compiled.
func (p *Programs) has(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[id] != nil
}

func (p *Programs) load(r *Request) *program {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.known[r.ID]; one != nil {
		return one
	}
	if len(p.known) >= MaxPrograms || p.known == nil {
		p.known = map[string]*program{}
	}
	one := compile(r.Modules)
	p.known[r.ID] = one
	return one
}

// local is the evaluator of this process.
type local struct{ programs Programs }

var here local

var standard Evaluator = &here

// Default returns the evaluator for callers that name no other: Local, unless SetDefault has
// set one.
func Default() Evaluator { return standard }

// SetDefault sets the result of Default. It must be called before the first compilation.
func SetDefault(e Evaluator) { standard = e }

// maxLocal is how long an evaluation may take in this process, by the clock: other work takes
// the processor too.
const maxLocal = 12 * MaxTime

// Local is the evaluator that works in this process. It stops an evaluation that takes
// longer than a minute, by the clock, at its next step; nothing bounds its memory.
// It is for modules of whoever runs the process.
func Local() Evaluator { return &here }

// Do implements Evaluator.
func (l *local) Do(ctx context.Context, r *Request) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxLocal)
	defer cancel()
	return l.programs.Do(ctx, r), nil
}
