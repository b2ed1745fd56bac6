package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// The services of Texts.
const (
	judgeService = "judge"
	testsService = "tests"
)

// Texts works on texts in the process of a Judge. It keeps the types that it has read.
type Texts struct {
	sets map[string]*schema.Set
}

// Services returns what the process answers, by name.
func Services() map[string]expr.Handler {
	t := &Texts{sets: map[string]*schema.Set{}}
	return map[string]expr.Handler{judgeService: t.answering(judge), testsService: t.answering(test)}
}

// request is what a service is asked.
type request struct {
	// Types identifies the types of kinds; Texts are what they are read from.
	Types string        `json:"types"`
	Texts []schema.Text `json:"texts,omitempty"`
	// Policy is the policy to compile.
	Policy *policyCopy `json:"policy,omitempty"`
	// Tests are the tests to run.
	Tests *testRequest `json:"tests,omitempty"`
}

// testRequest are tests beside a policy, from a case on.
type testRequest struct {
	Set     *source.Set       `json:"set,omitempty"`
	Text    *source.ConfigMap `json:"text"`
	Subject string            `json:"subject"`
	// Without are the policies that must not be compiled.
	Without []string `json:"without,omitempty"`
	Case    int      `json:"case,omitempty"`
}

// response is what a service answers.
type response struct {
	// Lacking says that the types have to be read first.
	Lacking bool   `json:"lacking,omitempty"`
	Error   string `json:"error,omitempty"`
	// Failed are the failures of tests, Next is the case to go on with; 0 if there is none.
	Failed []document.Problem `json:"failed,omitempty"`
	Next   int                `json:"next,omitempty"`
}

// call asks a service. If that lacks the types, they are read first, which is not the work of
// the text. They go with the text then, too, for a process that has to be started anew.
func call(ctx context.Context, service expr.Limiter, types []schema.Text, r request) (*response, error) {
	r.Types = digest(types)
	out, err := ask(ctx, service, r)
	if err != nil || !out.Lacking {
		return out, err
	}
	if out, err = ask(ctx, service, request{Types: r.Types, Texts: types}); err == nil && out.Error != "" {
		err = errors.New(out.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("the types of its kinds cannot be read: %s", err.Error()) // a limit is not one of the text
	}
	r.Texts = types
	return ask(ctx, service, r)
}

func ask(ctx context.Context, service expr.Limiter, r request) (*response, error) {
	text, err := json.Marshal(r)
	if err == nil {
		text, err = service.Do(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	out := &response{}
	return out, json.Unmarshal(text, out)
}

// answering makes a handler of what is done by the types of a request.
func (t *Texts) answering(do func(context.Context, *request, *schema.Set) *response) expr.Handler {
	return func(ctx context.Context, body []byte) []byte {
		var r request
		out := &response{Lacking: true}
		err := json.Unmarshal(body, &r)
		if err == nil {
			err = t.read(&r)
		}
		if err != nil {
			out = &response{Error: err.Error()}
		} else if known := t.sets[r.Types]; known != nil {
			out = &response{}
			if r.Policy != nil || r.Tests != nil { // or else the types are all
				out = do(ctx, &r, known)
			}
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

// read reads the types that a request has.
func (t *Texts) read(r *request) error {
	if t.sets[r.Types] != nil || r.Texts == nil && r.Types != digest(nil) {
		return nil
	}
	set := schema.NewSet(schema.Builtin())
	for _, text := range r.Texts {
		if err := set.AddText(text); err != nil {
			return err
		}
	}
	if len(t.sets) >= maxSets {
		clear(t.sets)
	}
	t.sets[r.Types] = set
	return nil
}

// judge compiles a policy. Problems are not returned: it is compiled again.
func judge(_ context.Context, r *request, known *schema.Set) *response {
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
	_, _, err := source.NewCompiler(rego.Local(), nil).Compile(context.Background(), u, known)
	return err
}

// slice is after how long the tests let other requests to the process have their turn.
const slice = 300 * time.Millisecond

// test runs tests beside a policy.
func test(ctx context.Context, r *request, known *schema.Set) *response {
	contents := source.Read(r.Tests.Set, r.Tests.Text)
	e := policytest.Embedded{Tests: contents.Tests, Schemas: known, Allowances: contents.Allowances(nil), Skip: r.Tests.Case, Slice: slice}
	for _, u := range contents.Units {
		if u.ID() == r.Tests.Subject {
			e.Subject = u
		}
		if !slices.Contains(r.Tests.Without, u.ID()) {
			e.Units = append(e.Units, u)
		}
	}
	report, err := policytest.RunEmbedded(ctx, e)
	if err != nil {
		return &response{Error: err.Error()}
	}
	out := &response{Next: report.Next}
	for _, c := range report.Cases {
		for _, f := range c.Failures {
			out.Failed = append(out.Failed, document.Problem{Position: c.At, Severity: document.Error, Message: fmt.Sprintf("the test %q fails: %s", c.Name, f)})
		}
	}
	return out
}
