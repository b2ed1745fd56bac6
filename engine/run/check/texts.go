package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/schema"
)

// The services of Texts.
const (
	typesService = "types"
	judgeService = "judge"
)

// Texts works on texts in the process of a Judge. It keeps the types that it has read.
type Texts struct {
	sets map[string]*schema.Set
}

// Services returns what the process answers, by name.
func Services() map[string]expr.Handler {
	t := &Texts{sets: map[string]*schema.Set{}}
	return map[string]expr.Handler{typesService: answering(t.read), judgeService: answering(t.judge)}
}

// request is what a service is asked.
type request struct {
	// Types identifies the types of kinds; Texts are what they are read from.
	Types string        `json:"types"`
	Texts []schema.Text `json:"texts,omitempty"`
	// Policy is the policy to compile.
	Policy *policyCopy `json:"policy,omitempty"`
}

// response is what a service answers.
type response struct {
	// Lacking says that the types have to be read first.
	Lacking bool   `json:"lacking,omitempty"`
	Error   string `json:"error,omitempty"`
}

// call asks a service. If that lacks the types, they are read first, which is not the work of
// the text.
func call(ctx context.Context, service, reader expr.Limiter, types []schema.Text, body []byte) (*response, error) {
	out, err := ask(ctx, service, body)
	if err != nil || !out.Lacking {
		return out, err
	}
	known, err := json.Marshal(request{Types: digest(types), Texts: types})
	if err != nil {
		return nil, err
	}
	if out, err = ask(ctx, reader, known); err == nil && out.Error != "" {
		err = errors.New(out.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("the types of its kinds cannot be read: %s", err.Error()) // a limit is not one of the text
	}
	return ask(ctx, service, body)
}

func ask(ctx context.Context, service expr.Limiter, body []byte) (*response, error) {
	text, err := service.Do(ctx, body)
	if err != nil {
		return nil, err
	}
	out := &response{}
	return out, json.Unmarshal(text, out)
}

// answering makes a handler of a function.
func answering(f func(context.Context, *request) *response) expr.Handler {
	return func(ctx context.Context, body []byte) []byte {
		var r request
		out := &response{}
		if err := json.Unmarshal(body, &r); err != nil {
			out.Error = err.Error()
		} else {
			out = f(ctx, &r)
		}
		text, err := json.Marshal(out)
		if err != nil {
			panic(err) // it is texts and numbers
		}
		return text
	}
}

// digest identifies types.
func digest(types []schema.Text) string {
	h := sha256.New()
	for _, t := range types {
		fmt.Fprintf(h, "%v %d:%s", t.CRD, len(t.Text), t.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxSets is how many sets of types are kept.
const maxSets = 16

// read reads types.
func (t *Texts) read(_ context.Context, r *request) *response {
	set := schema.NewSet(schema.Builtin())
	for _, text := range r.Texts {
		if err := set.AddText(text); err != nil {
			return &response{Error: err.Error()}
		}
	}
	if len(t.sets) >= maxSets {
		clear(t.sets)
	}
	t.sets[r.Types] = set
	return &response{}
}

// judge compiles a policy. Problems are not returned: it is compiled again.
func (t *Texts) judge(_ context.Context, r *request) *response {
	known := t.sets[r.Types]
	if known == nil {
		return &response{Lacking: true}
	}
	if err := compileCopy(r.Policy, known); err != nil {
		return &response{Error: err.Error()}
	}
	return &response{}
}

func compileCopy(c *policyCopy, known *schema.Set) error {
	defer func() { _ = recover() }() // the other process will say so, with a stack
	u := c.unit()
	if u == nil {
		return fmt.Errorf("the revision %s cannot be told from its text", c.Revision)
	}
	_, _, err := u.Compile(known, rego.Local())
	return err
}
