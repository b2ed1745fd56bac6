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

// endpoints are those for metrics, probes and profiles.
type endpoints struct {
	options *Options
	// leading reports whether this process leads, ready whether its policies run.
	leading, ready func() bool
	// check returns an error if the ConfigMaps or the webhook do not work.
	check func(r *http.Request) error
	// shadows returns what policies in Shadow mode would have written; false if this
	// process does not evaluate them.
	shadows func() ([]*reconcile.ShadowReport, bool)
	// decisions serves why the policies decided so.
	decisions http.Handler
}

func (p *process) endpoints() *endpoints {
	return &endpoints{
		options: &p.options, leading: p.leads.Load,
		ready: func() bool { return p.term.Load().ready() }, check: p.check,
		shadows:   p.shadows,
		decisions: live.Handler(func() (live.Controllers, bool) { return p.term.Load().decisions() }),
	}
}

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

// check returns an error if this process does not do its part: the ConfigMaps are
// watched, the webhook answers and, if it leads, the policies run.
func (p *process) check(r *http.Request) error {
	switch {
	case p.store != nil && !p.store.Ready():
		return errors.New("the ConfigMaps are not read yet")
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
func (e *endpoints) serve(m manager.Manager) error {
	if err := listen(m, e.options.ProbeAddress, e.probes(http.NewServeMux())); err != nil {
		return err
	}
	// Whoever asks for decisions from another machine has to come through the API server. That
	// the address is taken is no reason not to run.
	if err := listen(m, e.options.DecisionsAddress, forLoopback(e.decisions)); err != nil {
		e.options.Log.Warn("decisions are not served", "address", e.options.DecisionsAddress, "error", err.Error())
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
		Name: address, Listener: listener,
		Server: &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second},
	})
}

// ShadowPath is the path of the reports of policies in Shadow mode.
const ShadowPath = "/shadowz"

// probes adds the probes. Shadow reports show objects, so they are only here if
// metrics are not secured.
func (e *endpoints) probes(mux *http.ServeMux) *http.ServeMux {
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, true, "ok", "") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { e.readyz(w) })
	mux.HandleFunc("/servez", e.servez)
	mux.HandleFunc("/leadz", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.leading(), "ok", "not leader") })
	if !e.options.MetricsSecure {
		mux.HandleFunc(ShadowPath, e.shadowz)
	}
	return mux
}

// readyz reports whether the policies run here. With leader election, a standby is not
// ready.
func (e *endpoints) readyz(w http.ResponseWriter) {
	ready := e.ready()
	if e.options.Election == nil {
		answer(w, ready, "ok", "not ready")
		return
	}
	leads := e.leading()
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
func (e *endpoints) servez(w http.ResponseWriter, r *http.Request) {
	if err := e.check(r); err != nil {
		answer(w, false, "", err.Error())
		return
	}
	answer(w, true, "ok", "")
}

// shadowz serves the shadow reports. With leader election, only the leader has them.
func (e *endpoints) shadowz(w http.ResponseWriter, _ *http.Request) {
	reports, runs := e.shadows()
	if !runs {
		http.Error(w, "this process evaluates no policy in Shadow mode: ask the one that leads", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if reports == nil {
		reports = []*reconcile.ShadowReport{}
	}
	if err := json.NewEncoder(w).Encode(reports); err != nil {
		e.options.Log.Debug("a reader went away", "error", err.Error())
	}
}
