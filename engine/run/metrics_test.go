package run

import (
	"strings"
	"testing"
)

// TestProfilesStayOnTheMachine, and secured metrics apart from the probes.
func TestProfilesStayOnTheMachine(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{":6060": "must be one of the loopback", "0.0.0.0:6060": "must be one of the loopback", "10.0.0.1:6060": "must be one of the loopback", "6060": "the address of profiles"} {
		p := offline()
		p.PprofAddress = address
		if err := p.serve(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	p := offline()
	p.MetricsAddress, p.ProbeAddress, p.MetricsSecure = "127.0.0.1:0", "127.0.0.1:0", true
	if err := p.serve(t.Context()); err == nil || !strings.Contains(err.Error(), "an address of their own") {
		t.Error(err)
	}
}
