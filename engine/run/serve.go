package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/reconcile"
)

// shadows returns what policies in Shadow mode would have written; false if this process
// does not lead.
func (p *process) shadows() ([]*reconcile.ShadowReport, bool) {
	t := p.term.Load()
	if t == nil {
		return nil, false
	}
	return t.runtime.ShadowReports(), true
}

// pending returns how many runs are pending for a policy.
func (p *process) pending(id string) (n int) {
	for _, c := range p.term.Load().controllers() {
		if c.Policy.ID() == id {
			n += c.Pending()
		}
	}
	return n
}

// check returns an error if this process does not do its part: the webhook answers and, if it leads, the policies run.
func (p *process) check(r *http.Request) error {
	switch {
	case p.leads.Load() && !p.term.Load().ready():
		return errors.New("policies have not seen their first lists yet")
	case p.webhook == nil:
		return nil
	}
	if err := p.webhook.Check(r); err != nil {
		return fmt.Errorf("the webhook: %w", err)
	}
	return nil
}

// serve adds the servers of probes and decisions to a manager.
func (p *process) serve(m manager.Manager) error {
	if err := listen(m, p.options.ProbeAddress, p.probes(http.NewServeMux())); err != nil {
		return err
	}
	// Clients on other machines must come through the API server. The policies run also if the
	// address is taken.
	if err := listen(m, p.options.DecisionsAddress, forLoopback(p.decisions())); err != nil {
		p.options.Log.Warn("decisions are not served", "address", p.options.DecisionsAddress, "error", err.Error())
	}
	return nil
}

// listen has a manager serve at an address; "" is none.
func listen(m manager.Manager, address string, handler http.Handler) error {
	if address == "" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	return m.Add(&manager.Server{
		Name: address, Listener: listener, ShutdownTimeout: new(500 * time.Millisecond), // the Lease is released afterwards
		Server: &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second},
	})
}

// decisions serves why the policies decided so.
func (p *process) decisions() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(ShadowPath, p.shadowz)
	mux.Handle("/", live.Handler(func() (live.Controllers, bool) { return p.term.Load().decisions() }))
	return mux
}

// ShadowPath is the path of the reports of policies in Shadow mode.
const ShadowPath = "/shadowz"

// probes adds the probes. Shadow reports show objects, so they are only here if
// metrics are not secured.
func (p *process) probes(mux *http.ServeMux) *http.ServeMux {
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, true, "ok", "") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { p.readyz(w) })
	mux.HandleFunc("/servez", p.servez)
	mux.HandleFunc("/policies", p.policyStates)
	mux.HandleFunc("/leadz", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.leads.Load(), "ok", "not leader") })
	if !p.options.MetricsSecure {
		mux.HandleFunc(ShadowPath, p.shadowz)
	}
	return mux
}

// readyz reports whether the policies run here. With leader election, a standby is not
// ready.
func (p *process) readyz(w http.ResponseWriter) {
	ready := p.term.Load().ready()
	if p.options.Election == nil {
		answer(w, ready, "ok", "not ready")
		return
	}
	leads := p.leads.Load()
	text := fmt.Sprintf("ready=%v leader=%v", ready, leads)
	answer(w, ready && leads, text, text)
}

func answer(w http.ResponseWriter, ok bool, yes, no string) {
	text := yes
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = no
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		slog.Debug("a probe went away", "error", err.Error())
	}
}

// servez reports whether this process does its part.
func (p *process) servez(w http.ResponseWriter, r *http.Request) {
	if err := p.check(r); err != nil {
		answer(w, false, "", err.Error())
		return
	}
	answer(w, true, "ok", "")
}

// shadowz serves the shadow reports. With leader election, only the leader has them.
func (p *process) shadowz(w http.ResponseWriter, _ *http.Request) {
	reports, runs := p.shadows()
	if !runs {
		http.Error(w, "this process evaluates no policy in Shadow mode: ask the one that leads", http.StatusServiceUnavailable)
		return
	}
	if reports == nil {
		reports = []*reconcile.ShadowReport{}
	}
	p.encode(w, reports)
}

// encode answers with JSON.
func (p *process) encode(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.options.Log.Debug("a reader went away", "error", err.Error())
	}
}
