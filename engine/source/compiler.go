package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"sync/atomic"
	"time"

	"k8s.io/utils/lru"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Compiler compiles policies, and keeps the results: the same text is compiled once by
// the same types. It is safe for concurrent use.
type Compiler struct {
	// in compiles and runs the Rego of policies; nil is this process.
	in rego.Evaluator
	// accept is asked before a text is compiled in this process; nil accepts all.
	accept func(ctx context.Context, u *Unit, known *schema.Set) error
	kept   *lru.Cache
	size   atomic.Int64
	// compilers has a compile.Compiler by the digest of the types.
	compilers *lru.Cache
}

// maxCompilers bounds the compilers that are kept: most policies read the same groups of kinds.
const maxCompilers = 16

// digest identifies texts.
type digest [sha256.Size]byte

// ErrLimit reports that a text met a limit of the process that compiles new texts.
var ErrLimit = errors.New("make its expressions and modules smaller, or split the policy")

// rejudged is how long an ErrLimit holds: the machine may have been starved.
const rejudged = 5 * time.Minute

// result is the result of a compilation. Others may have the plan, too.
type result struct {
	plan     *plan.Policy
	problems []document.Problem
	err      error
	until    time.Time
	size     int64
}

// NewCompiler returns a Compiler that keeps as much as the policies of one ConfigMap may:
// the controller soon takes the results of the webhook. Both arguments may be nil.
func NewCompiler(in rego.Evaluator, accept func(context.Context, *Unit, *schema.Set) error) *Compiler {
	c := &Compiler{in: in, accept: accept, compilers: lru.New(maxCompilers)}
	c.kept = lru.NewWithEvictionFunc(0, func(_ lru.Key, v any) { c.size.Add(-v.(*result).size) })
	return c
}

// Compile compiles a policy by types. The plan is nil when a problem is an error. An error
// that is not ErrLimit reports that it could not be tried.
func (c *Compiler) Compile(ctx context.Context, u *Unit, known *schema.Set) (*plan.Policy, []document.Problem, error) {
	if len(u.Unread) > 0 {
		return nil, u.Unread, nil
	}
	types := digestOf(known)
	id := u.digest(types)
	if v, has := c.kept.Get(id); has && u.Seen == nil {
		if r := v.(*result); r.err == nil || time.Now().Before(r.until) {
			return u.placed(r)
		}
		c.kept.Remove(id)
	}
	r := &result{until: time.Now().Add(rejudged)}
	if c.accept != nil {
		r.err = c.accept(ctx, u, known)
	}
	if r.err != nil {
		r.err = fmt.Errorf("the policy %s of %s is not loaded: %w", u.Name(), path.Dir(u.File.Path), r.err)
	} else {
		var compiler *compile.Compiler
		if compiler, r.err = c.compiler(types, known); r.err == nil {
			r.plan, r.problems = u.compile(compiler, c.in)
		}
	}
	if r.err == nil || errors.Is(r.err, ErrLimit) {
		c.keep(id, r)
	}
	return u.placed(r)
}

// compiler returns the compile.Compiler for types.
func (c *Compiler) compiler(types digest, known *schema.Set) (*compile.Compiler, error) {
	if v, has := c.compilers.Get(types); has {
		return v.(*compile.Compiler), nil
	}
	out, err := compile.New(compile.Options{Schemas: known, Functions: builtins.Functions(), Queries: builtins.Queries()})
	if err == nil {
		c.compilers.Add(types, out)
	}
	return out, err
}

// digestOf returns the digest of the texts of types.
func digestOf(known *schema.Set) digest {
	h := sha256.New()
	for _, t := range known.Texts() {
		fmt.Fprintf(h, "%v %d:%s", t.CRD, len(t.Text), t.Text)
	}
	return digest(h.Sum(nil))
}

// keep keeps a result, and drops those that were not used for longest if they are too many.
func (c *Compiler) keep(id digest, r *result) {
	const least = 4 << 10
	if r.size = least; r.plan != nil {
		r.size += int64(r.plan.Kept)
	}
	c.kept.Remove(id) // of another one that has compiled it at the same time
	c.kept.Add(id, r)
	for c.size.Add(r.size); c.size.Load() > plan.MaxKeptOfOne && c.kept.Len() > 0; {
		c.kept.RemoveOldest()
	}
}
