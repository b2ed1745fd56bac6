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
	probes.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, true) })
	probes.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.allReady()) })
	if p.MetricsAddress == p.ProbeAddress {
		metrics.Handle("/healthz", probes)
		metrics.Handle("/readyz", probes)
		return p.listen(ctx, p.MetricsAddress, metrics)
	}
	if err := p.listen(ctx, p.MetricsAddress, metrics); err != nil {
		return err
	}
	return p.listen(ctx, p.ProbeAddress, probes)
}

func answer(w http.ResponseWriter, ok bool) {
	text := "ok"
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "not ready"
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
