package podrunner

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probeInterval is how often every probe is asked. It is shorter than a Pod's
// own, so that tests are quick; failures count for as long as the Pod says.
const probeInterval = 200 * time.Millisecond

// probes are those of one run of a container.
type probes struct {
	startup, liveness, readiness *probe

	started, ready bool
}

type probe struct {
	url      string
	after    time.Time
	patience time.Duration // how long it may fail
	failing  time.Time     // since when it does
}

func newProbes(container corev1.Container, address string) *probes {
	p := &probes{
		startup:   newProbe(container, container.StartupProbe, address),
		liveness:  newProbe(container, container.LivenessProbe, address),
		readiness: newProbe(container, container.ReadinessProbe, address),
	}
	p.started = p.startup == nil
	p.ready = p.started && p.readiness == nil
	return p
}

func newProbe(container corev1.Container, from *corev1.Probe, address string) *probe {
	if from == nil || from.HTTPGet == nil {
		return nil
	}
	port := from.HTTPGet.Port.IntValue()
	for _, named := range container.Ports {
		if from.HTTPGet.Port.Type == intstr.String && named.Name == from.HTTPGet.Port.StrVal {
			port = int(named.ContainerPort)
		}
	}
	return &probe{
		url:      "http://" + net.JoinHostPort(address, strconv.Itoa(port)) + from.HTTPGet.Path,
		after:    time.Now().Add(time.Duration(from.InitialDelaySeconds) * time.Second),
		patience: time.Duration(from.PeriodSeconds*from.FailureThreshold) * time.Second,
	}
}

// ask asks the probes whose turn it is. It gives false when the container has to
// be ended.
func (p *probes) ask(ctx context.Context) bool {
	if !p.started {
		ok, lasting := p.startup.ask(ctx)
		p.started = ok
		return !lasting
	}
	if p.liveness != nil {
		if _, lasting := p.liveness.ask(ctx); lasting {
			return false
		}
	}
	if p.readiness == nil {
		p.ready = true
		return true
	}
	ok, lasting := p.readiness.ask(ctx)
	p.ready = ok || p.ready && !lasting
	return true
}

// ask returns whether the answer is good, and whether it has been bad for too
// long.
func (p *probe) ask(ctx context.Context) (ok, lasting bool) {
	now := time.Now()
	if now.Before(p.after) {
		return false, false
	}
	if get(ctx, p.url) {
		p.failing = time.Time{}
		return true, false
	}
	if p.failing.IsZero() {
		p.failing = now
	}
	return false, now.Sub(p.failing) >= p.patience
}

var client = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func get(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode >= 200 && response.StatusCode < 400
}
