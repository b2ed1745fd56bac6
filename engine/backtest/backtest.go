package backtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/changelog"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/value"
)

// Result is what became of recorded decisions: the contract of `edict backtest -o
// json`.
type Result struct {
	// Decisions counts those of the log that are about a policy at hand.
	Decisions int `json:"decisions"`
	Same      int `json:"same"`
	// Different are those that turn out otherwise.
	Different []Difference `json:"different"`
	// NotDecided are those that cannot be made again.
	NotDecided []NotDecided `json:"notDecided"`
}

// Difference is a decision that turns out otherwise.
type Difference struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Policy string    `json:"policy"`
	Key    eval.Key  `json:"key"`
	// Before are the writes of the log, After those with the edit.
	Before []Write `json:"before"`
	After  []Write `json:"after"`
	// Error is what fails with the edit.
	Error string `json:"error,omitempty"`
}

// Write is a write as decisions are compared by.
type Write struct {
	Verb        string                `json:"verb"`
	Subresource string                `json:"subresource,omitempty"`
	Target      record.ObjectDocument `json:"target"`
	Patch       any                   `json:"patch,omitempty"`
}

// NotDecided is a decision that cannot be made again.
type NotDecided struct {
	ID     string   `json:"id"`
	Policy string   `json:"policy"`
	Key    eval.Key `json:"key"`
	Reason string   `json:"reason"`
}

// decision is the lines of one decision.
type decision struct {
	first changelog.Line
	// line is the number of the first.
	line   int
	writes []Write
}

// maxLine bounds a line of the log, in bytes.
const maxLine = 16 << 20

// Run makes the decisions of a change log again with policies. Decisions of other
// policies are passed over.
func Run(ctx context.Context, log io.Reader, policies []*plan.Policy, o capture.Options) (*Result, error) {
	byID := map[string]*plan.Policy{}
	for _, p := range policies {
		byID[p.Name] = p
	}
	out := &Result{Different: []Difference{}, NotDecided: []NotDecided{}}
	err := read(log, func(d *decision) error {
		if p := byID[d.first.Policy]; p != nil {
			out.add(ctx, d, p, o)
		}
		return ctx.Err()
	})
	return out, err
}

// ofProcess reports whether a line is one of the controller's own log. They stand between
// those of a change log on standard output, as kubectl logs gives both.
func ofProcess(text []byte) bool {
	if !bytes.HasPrefix(text, []byte(`{"time":`)) { // the lines of a change log are long
		return false
	}
	var line struct {
		Level   string `json:"level"`
		Message string `json:"msg"`
	}
	return json.Unmarshal(text, &line) == nil && line.Level != "" && line.Message != ""
}

// read calls take with each decision of a log. The lines of a decision follow each
// other.
func read(log io.Reader, take func(*decision) error) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, maxLine)
	var last *decision
	for n := 1; lines.Scan(); n++ {
		var line changelog.Line
		if len(lines.Bytes()) == 0 || ofProcess(lines.Bytes()) {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if last != nil && last.first.ID != line.ID {
			if err := take(last); err != nil {
				return err
			}
			last = nil
		}
		if last == nil {
			last = &decision{first: line, line: n}
		}
		last.writes = append(last.writes, Write{Verb: line.Verb, Subresource: line.Subresource, Target: line.Target, Patch: line.Patch})
	}
	if err := lines.Err(); err != nil || last == nil {
		return err
	}
	return take(last)
}

// add makes one decision again.
func (r *Result) add(ctx context.Context, d *decision, p *plan.Policy, o capture.Options) {
	line := &d.first
	r.Decisions++
	if line.Inputs == nil {
		r.NotDecided = append(r.NotDecided, NotDecided{ID: line.ID, Policy: line.Policy, Key: line.Key, Reason: "the log does not have what the decision depended on (edict run --change-log-inputs)"})
		return
	}
	if err := line.Inputs.Check(); err != nil {
		r.NotDecided = append(r.NotDecided, NotDecided{ID: line.ID, Policy: line.Policy, Key: line.Key, Reason: fmt.Sprintf("line %d of the log: inputs.%v", d.line, err)})
		return
	}
	again, err := capture.Decide(ctx, p, line.Key, line.At, line.Inputs, o)
	if err != nil {
		r.NotDecided = append(r.NotDecided, NotDecided{ID: line.ID, Policy: line.Policy, Key: line.Key, Reason: err.Error()})
		return
	}
	writes := writesOf(again)
	var failed error
	for _, problem := range again.Problems {
		failed = errors.Join(failed, fmt.Errorf("rule %q: %w", problem.Rule, problem.Err))
	}
	if slices.Equal(line.Failed, changelog.FailedRules(again)) && reflect.DeepEqual(apiserver.Generic(d.writes), apiserver.Generic(writes)) {
		r.Same++
		return
	}
	difference := Difference{ID: line.ID, At: line.At, Policy: line.Policy, Key: line.Key, Before: d.writes, After: writes}
	if failed != nil {
		difference.Error = failed.Error()
	}
	r.Different = append(r.Different, difference)
}

func writesOf(d *eval.Decision) []Write {
	out := []Write{}
	for _, e := range d.Effects {
		target := record.ObjectDocument{APIVersion: e.Target.APIVersion, Kind: e.Target.Kind, Namespace: e.Target.Namespace, Name: e.Target.Name}
		out = append(out, Write{Verb: e.Verb, Subresource: e.Subresource, Target: target, Patch: value.Plain(e.Patch)})
	}
	return out
}
