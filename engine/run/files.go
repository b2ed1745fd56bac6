package run

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/requirements"
	"github.com/edict-dev/edict/engine/source"
)

// readFiles reads the policies of files.
func (p *process) readFiles() (*source.Bundle, error) {
	o := &p.options
	options := source.Options{Schemas: o.Schemas, Params: o.Params, Rego: p.rego}
	if o.PolicyNamespace != "" {
		options.Params = nil // their policies are not known yet
	}
	return source.Load(o.Policies, options)
}

// awaitFiles returns once files have other policies, all of which can run, or the context has ended.
// Until then the ones before continue.
func (p *process) awaitFiles(ctx context.Context) {
	for before := source.Stamp(p.options.Policies); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.options.PollInterval):
		}
		now := source.Stamp(p.options.Policies)
		if now == before {
			continue
		}
		before = now
		bundle, err := p.readFiles()
		if err == nil {
			err = cmp.Or(bundle.Err(), runnable(bundle, &p.options))
		}
		if err == nil {
			p.bundle.Store(bundle)
			p.refused.Store(nil)
			p.options.Log.Info("the policies of the files have changed, and start again")
			return
		}
		text := err.Error()
		p.refused.Store(&text)
		p.options.Log.Error("the policies of the files have changed and are refused; those before continue", "error", text)
	}
}

// policyState is the state of a policy at /policies.
type policyState struct {
	Name     string `json:"name"`
	Mode     string `json:"mode,omitempty"`
	Phase    string `json:"phase"`
	Revision string `json:"revision,omitempty"`
	Message  string `json:"message,omitempty"`
}

// policyStates serves the state of the policies that run here.
func (p *process) policyStates(w http.ResponseWriter, _ *http.Request) {
	t := p.term.Load()
	if t == nil {
		http.Error(w, "this process runs no policy: ask the one that leads", http.StatusServiceUnavailable)
		return
	}
	out := struct {
		Policies []policyState `json:"policies"`
		// Refused are the errors of the texts that were read last; empty if they run.
		Refused string `json:"refused,omitempty"`
	}{Policies: []policyState{}}
	if text := p.refused.Load(); text != nil {
		out.Refused = *text
	}
	all := t.runtime.Policies()
	for _, id := range all.AssignedIDs() {
		one := all.Get(id)
		out.Policies = append(out.Policies, policyState{id, string(one.Assigned.Plan.Mode), string(one.Phase), one.Report.InForce, one.Report.Reason})
	}
	p.encode(w, out)
}

// startFiles starts the policies of files.
func (t *term) startFiles() {
	var revisions []*lifecycle.Revision
	bundle := t.process.bundle.Load()
	for _, u := range bundle.Units {
		p := bundle.Policy(u)
		switch {
		case p == nil:
		case p.Mode == plan.Disabled:
			t.process.options.Log.Info("the policy is disabled", observe.LogPolicy, p.Name)
		default:
			rev := &lifecycle.Revision{Unit: u, Plan: p}
			t.runtime.Policies().Assign(p.ID(), rev, true)
			revisions = append(revisions, rev)
		}
	}
	t.process.term.Store(t)
	t.runtime.RunAll(revisions)
}

// runnable logs what is wrong with the policies of files. It returns an error only if
// none can run.
func runnable(b *source.Bundle, o *Options) error {
	for _, problem := range b.Problems {
		level := slog.LevelWarn
		if problem.Severity == "error" {
			level = slog.LevelError
		}
		o.Log.Log(context.Background(), level, problem.Message, "at", problem.Position.String(), "hint", problem.Hint)
	}
	n := 0
	for _, policy := range b.Policies {
		if policy.Mode == plan.Disabled {
			continue
		}
		n++
		if err := requirements.Answered(o.Answers, policy); err != nil {
			return err
		}
	}
	if n == 0 {
		if err := b.Err(); err != nil {
			return err
		}
		return errors.New("no policy that can run")
	}
	return nil
}
