package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// JudgeTime is how much processor time the compilation of a text may take.
const JudgeTime = 2 * time.Second

// Judge has new texts compiled in a process with limits before they are compiled in this
// one: a compiled policy does not cross processes. A nil Judge accepts every text.
type Judge struct {
	in rego.Evaluator

	mu sync.Mutex
	// judged are the verdicts on texts, by digest.
	judged map[string]verdict
}

// verdict is the result for a text.
type verdict struct {
	// limit is the limit that the text exceeded; nil if it was compiled.
	limit error
	at    time.Time
}

const (
	// rejudged is how long a limit holds: the machine may have been starved.
	rejudged = 5 * time.Minute
	// judging is how long a text may take by the clock, with the wait for others.
	judging = 30 * time.Second
	// maxJudged is how many texts are remembered.
	maxJudged = 4096
)

// NewJudge returns a Judge that asks a process with a Texts.
func NewJudge(in rego.Evaluator) *Judge { return &Judge{in: in, judged: map[string]verdict{}} }

// ErrLimit reports that a text met a limit of the process that compiles new texts.
var ErrLimit = errors.New("make its expressions and modules smaller, or split the policy")

// Compile compiles a policy by types, once another process has done so within its limits.
// Errors other than ErrLimit come from the process, not from the text.
func (j *Judge) Compile(ctx context.Context, u *source.Unit, known *schema.Set, in rego.Evaluator) (*plan.Policy, []document.Problem, error) {
	if err := j.accept(ctx, u, known); err != nil {
		return nil, nil, fmt.Errorf("the policy %s of %s is not loaded: %w", u.Name(), path.Dir(u.File.Path), err)
	}
	return u.Compile(known, in)
}

// accept returns why a text is not to be compiled in this process.
func (j *Judge) accept(ctx context.Context, u *source.Unit, of *schema.Set) error {
	if j == nil || len(u.Unread) > 0 {
		return nil
	}
	types := typesRequest(of)
	text, err := json.Marshal(copyOf(u))
	if err != nil {
		return err
	}
	id := digest([]string{types.ID, string(text)})
	j.mu.Lock()
	known, is := j.judged[id]
	j.mu.Unlock()
	if is && (known.limit == nil || time.Since(known.at) < rejudged) {
		return known.limit
	}
	ctx, cancel := context.WithTimeout(ctx, judging)
	defer cancel()
	limit, err := j.ask(ctx, types, text)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.judged) >= maxJudged {
		clear(j.judged)
	}
	j.judged[id] = verdict{limit, time.Now()}
	return limit
}

// ask has the types read, which is not the work of the text, and then the text compiled.
// The error comes from the process, not from the text.
func (j *Judge) ask(ctx context.Context, types *rego.Request, text []byte) (limit, err error) {
	answer, err := j.in.Do(ctx, types)
	if err == nil && len(answer) > 0 {
		err = errors.New(string(answer))
	}
	if err != nil {
		return nil, fmt.Errorf("the types of its kinds cannot be read, which is tried again: %w", err)
	}
	types.Query = text
	answer, err = j.in.Do(ctx, types)
	switch {
	case errors.Is(err, expr.ErrTime):
		return fmt.Errorf("its compilation takes more than %v of processor time; %w", JudgeTime, ErrLimit), nil
	case err != nil && child.Exhausted(err):
		return fmt.Errorf("its compilation is too large: %w; %w", err, ErrLimit), nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("it was not compiled in %v; it is tried again: %w", judging, err)
	case err != nil:
		return nil, fmt.Errorf("it cannot be compiled, and is tried again: %w", err)
	case len(answer) > 0:
		return nil, errors.New(string(answer))
	default:
		return nil, nil
	}
}

// typesRequest has the process read types, unless it knows them.
func typesRequest(known *schema.Set) *rego.Request {
	out := &rego.Request{}
	var all []string
	for _, t := range known.Texts() {
		out.Modules = append(out.Modules, rego.Module{Name: strconv.FormatBool(t.CRD), Text: t.Text})
		all = append(all, t.Text)
	}
	out.ID = digest(all)
	return out
}

func digest(texts []string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Texts compiles the texts of a Judge, in the process that it asks.
type Texts struct {
	sets map[string]*schema.Set
}

var _ child.Handler = (*Texts)(nil)

// Do implements child.Handler. The modules of a request are texts of types, its query is a
// policyCopy. Problems of the policy are not returned: it is compiled again.
func (t *Texts) Do(_ context.Context, r *rego.Request) []byte {
	known, err := t.known(r)
	if err == nil && r.Query != nil {
		err = compileCopy(r.Query, known)
	}
	if err != nil {
		return []byte(err.Error())
	}
	return nil
}

func (t *Texts) known(r *rego.Request) (*schema.Set, error) {
	if set := t.sets[r.ID]; set != nil {
		return set, nil
	}
	set := schema.NewSet(schema.Builtin())
	for _, m := range r.Modules {
		if err := set.AddText(schema.Text{CRD: m.Name == "true", Text: m.Text}); err != nil {
			return nil, err
		}
	}
	if t.sets == nil {
		t.sets = map[string]*schema.Set{}
	}
	t.sets[r.ID] = set
	return set, nil
}

func compileCopy(text []byte, known *schema.Set) error {
	defer func() { _ = recover() }() // the other process will say so, with a stack
	var c policyCopy
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	u := c.unit()
	if u == nil {
		return fmt.Errorf("the revision %s cannot be told from its text", c.Revision)
	}
	_, _, err := u.Compile(known, rego.Local())
	return err
}
