package run

import (
	"strings"
	"testing"
)

// TestProfilesStayOnTheMachine, and secured metrics apart from the probes.
func TestProfilesStayOnTheMachine(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{":6060": "must be one of the loopback", "0.0.0.0:6060": "must be one of the loopback", "10.0.0.1:6060": "must be one of the loopback", "6060": "the address of profiles"} {
		p := &process{options: Options{PprofAddress: address}}
		if err := p.endpoints().serve(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	p := &process{options: Options{MetricsAddress: "127.0.0.1:0", ProbeAddress: "127.0.0.1:0", MetricsSecure: true}}
	if err := p.endpoints().serve(t.Context()); err == nil || !strings.Contains(err.Error(), "an address of their own") {
		t.Error(err)
	}
}
