package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// serve starts the endpoints for metrics, probes and profiles.
func (p *process) serve(ctx context.Context) error {
	if err := p.servePprof(ctx); err != nil {
		return err
	}
	if p.MetricsAddress != p.ProbeAddress {
		if err := p.serveMetrics(ctx); err != nil {
			return err
		}
		return p.listen(ctx, p.ProbeAddress, p.probes(http.NewServeMux()), nil)
	}
	if p.MetricsSecure && p.MetricsAddress != "" {
		return errors.New("metrics that are secured need an address of their own: that of the probes is open to everybody")
	}
	mux := p.probes(http.NewServeMux())
	mux.Handle(MetricsPath, p.metrics())
	return p.listen(ctx, p.MetricsAddress, mux, nil)
}

// probes adds the probes. What policies in the shadow came to shows objects, so
// it is only here if nothing is secured.
func (p *process) probes(mux *http.ServeMux) *http.ServeMux {
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, true, "ok", "") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { p.readyz(w) })
	mux.HandleFunc("/servez", p.servez)
	mux.HandleFunc("/leadz", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.leader.Load(), "ok", "not leader") })
	if !p.MetricsSecure {
		mux.HandleFunc(ShadowPath, p.shadowz)
	}
	return mux
}

// readyz reports whether the policies run here. Where processes take turns, one
// that does not lead is not ready.
func (p *process) readyz(w http.ResponseWriter) {
	ready := p.term.Load().allReady()
	if p.Election == nil {
		answer(w, ready, "ok", "not ready")
		return
	}
	leads := p.leader.Load()
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

// listen serves at an address, "" is none, with TLS if a configuration is given.
func (p *process) listen(ctx context.Context, address string, handler http.Handler, secured *tls.Config) error {
	if address == "" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug)}
	p.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.Log.Error("an endpoint ended", "address", address, "error", err.Error())
		}
	})
	p.wg.Go(func() {
		<-ctx.Done()
		if err := server.Close(); err != nil {
			p.Log.Debug("closing an endpoint", "error", err.Error())
		}
	})
	return nil
}

func levelOf(name string) slog.Level {
	switch name {
	case "debug":
		return slog.LevelDebug
	case "warning":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
