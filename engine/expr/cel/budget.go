package cel

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/edict-dev/edict/engine/expr"
)

// MaxExpressions is how many bytes the expressions of one policy may have
// together. Compiling as much takes about half a second.
const MaxExpressions = 64 << 10

// computed are the limits of what is computed when a policy is compiled. They
// are small: a policy is compiled before anybody has decided to run it. What
// meets them is computed when the policy runs.
var computed = expr.Limits{Run: 100_000, Cost: 1_000_000, Most: 1_000_000, Nodes: 50_000, Text: 64 << 10, Bytes: 1 << 20}

// Budget counts what compiling one policy takes. Parts of conditions are compiled
// later as well, when somebody asks why a decision was made, also from several
// goroutines.
type Budget struct {
	*expr.Meter
	// trials counts what trying the calls with constant arguments takes.
	trials *expr.Meter
	mu     sync.Mutex
	// bytes and steps count the expressions so far, hinted the errors.
	bytes, steps, hinted int
	// kept counts the memory that the compiled expressions hold.
	kept kept
	// parsed are texts that were parsed to find the names in them.
	parsed map[string]*cel.Ast
}

// NewBudget starts a count. Close must be called at the end.
func NewBudget() *Budget {
	meter := func() *expr.Meter { return expr.NewMeterWith(context.Background(), computed) }
	return &Budget{Meter: meter(), trials: meter(), parsed: map[string]*cel.Ast{}}
}

// Close ends the count.
func (b *Budget) Close() {
	b.Meter.Close()
	b.trials.Close()
}

// admit counts the bytes of one more expression, as spend does.
func (b *Budget) admit(text string) (ok bool, refusal string) {
	if b == nil {
		return true, ""
	}
	return b.spend(&b.bytes, len(text), MaxExpressions, "the expressions of the policy have more than %d bytes together; make several policies of it")
}

// admitSteps counts the steps of checking one more expression, as spend does.
func (b *Budget) admitSteps(n int) (ok bool, refusal string) {
	if b == nil {
		return true, ""
	}
	return b.spend(&b.steps, n, MaxPolicySteps, "checking the types of the policy's expressions takes more than %d steps; make several policies of it")
}

// spend adds to a total. It reports whether that is within the limit, and returns the refusal
// the first time that it is not.
func (b *Budget) spend(total *int, n, limit int, format string) (ok bool, refusal string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := *total
	if *total += n; *total <= limit {
		return true, ""
	}
	if before <= limit {
		refusal = fmt.Sprintf(format, limit)
	}
	return false, refusal
}

// retain adds the memory that one more expression holds for the lifetime of the policy.
func (b *Budget) retain(k kept) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.sum(k)
}

// Kept returns an estimate of the bytes that the expressions hold for the lifetime of the policy.
// It depends only on their texts, so that all processes get the same figure.
func (b *Budget) Kept() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.size()
}

// maxHints is how many errors of a policy may say what was probably meant: to
// find that, every name that is known is looked at.
const maxHints = 50

// hints reports whether one more error may say what was probably meant.
func (b *Budget) hints() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hinted++
	return b.hinted <= maxHints
}

// keep holds a parsed text until it is compiled: parsing takes as long as all
// that follows.
func (b *Budget) keep(text string, parsed *cel.Ast) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parsed[text] = parsed
}

// take returns a parsed text, once; nil when there is none.
func (b *Budget) take(text string) *cel.Ast {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	parsed := b.parsed[text]
	delete(b.parsed, text)
	return parsed
}
