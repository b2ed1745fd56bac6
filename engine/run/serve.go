package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serve starts the endpoints for metrics and probes.
func (p *process) serve(ctx context.Context) error {
	metrics := http.NewServeMux()
	metrics.Handle("/metrics", promhttp.HandlerFor(p.Registry, promhttp.HandlerOpts{}))
	probes := http.NewServeMux()
	probes.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, true, "ok", "") })
	probes.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { p.readyz(w) })
	probes.HandleFunc("/servez", p.servez)
	probes.HandleFunc(ShadowPath, p.shadowz)
	probes.HandleFunc("/leadz", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.leader.Load(), "ok", "not leader") })
	if p.MetricsAddress == p.ProbeAddress {
		metrics.Handle("/healthz", probes)
		metrics.Handle("/readyz", probes)
		metrics.Handle("/leadz", probes)
		metrics.Handle("/servez", probes)
		metrics.Handle(ShadowPath, probes)
		return p.listen(ctx, p.MetricsAddress, metrics)
	}
	if err := p.listen(ctx, p.MetricsAddress, metrics); err != nil {
		return err
	}
	return p.listen(ctx, p.ProbeAddress, probes)
}

// readyz says whether the policies run here. Where processes take turns, one
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

func (p *process) listen(ctx context.Context, address string, handler http.Handler) error {
	if address == "" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
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
