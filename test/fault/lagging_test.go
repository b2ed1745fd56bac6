package fault

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/edict-dev/edict/test/controlplane"
)

// lagging is a second API server that controllers read from.
type lagging struct {
	*controlplane.SecondAPIServer
	url    *url.URL
	client dynamic.Interface
}

// second starts a second API server.
func (s *stage) second() *lagging {
	s.t.Helper()
	server, err := s.plane.StartSecondAPIServer(s.t.Context())
	s.must(nil, err)
	l := &lagging{SecondAPIServer: server}
	l.url, err = url.Parse(server.Config().Host)
	s.must(nil, err)
	l.client, err = dynamic.NewForConfig(server.Config())
	s.must(nil, err)
	return l
}

// isBehind wants the second API server to have older data in its cache than the
// first: without that a run is void.
func (s *stage) isBehind(l *lagging) {
	s.t.Helper()
	version := func(api dynamic.Interface, at string) int {
		list, err := api.Resource(configMaps).Namespace("source").List(s.t.Context(), metav1.ListOptions{ResourceVersion: at, Limit: 1})
		s.must(nil, err)
		n, err := strconv.Atoi(list.GetResourceVersion())
		s.must(nil, err)
		return n
	}
	now, cached := version(s.client, ""), version(l.client, "0")
	if cached+20 > now || l.Held() == 0 {
		s.t.Fatalf("VOID: the second API server is at version %d, the first at %d; %d answers of etcd were held back", cached, now, l.Held())
	}
	s.t.Logf("the second API server is at version %d, the first at %d", cached, now)
}

// TestLaggingAPIServer: of two API servers on one etcd one falls behind. The
// controller reads from it, is cut over to it, and starts anew against it, while it
// writes to the other; nothing is lost, repeated or taken back.
func TestLaggingAPIServer(t *testing.T) {
	for name, enter := range map[string]func(s *stage, l *lagging){
		"read from": func(s *stage, l *lagging) { s.readFrom(l); time.Sleep(2 * time.Second); l.Hold() },
		"cut over":  func(s *stage, l *lagging) { l.Hold(); time.Sleep(5 * time.Second); s.readFrom(l) },
		"restarted": func(s *stage, l *lagging) { l.Hold(); time.Sleep(5 * time.Second); s.restart(func() { s.readFrom(l) }) },
		"frozen":    func(s *stage, l *lagging) { s.readFrom(l); time.Sleep(2 * time.Second); s.must(nil, l.Pause()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, 1)
			l := s.second()
			before := len(s.history())
			s.traffic.begin()
			time.Sleep(2 * time.Second)
			enter(s, l)
			time.Sleep(10 * time.Second)
			if name == "frozen" {
				time.Sleep(4 * time.Second) // keys that wait for their writes to come back are decided again after 10 s
				s.isFrozen()
				s.must(nil, l.Resume())
			} else {
				s.isBehind(l)
				l.Release()
			}
			time.Sleep(3 * time.Second)
			c := s.controllers[0]
			s.eventually("the controller runs", 30*time.Second, leadsNow(c))
			s.traffic.end(0)
			s.converged("after the lag", time.Minute)
			s.judge()
			s.noReverts()
			s.noRepeats(before)
		})
	}
}

// isFrozen wants the controller to learn nothing any more: without that a run is
// void.
func (s *stage) isFrozen() {
	s.t.Helper()
	before := len(s.history())
	time.Sleep(2 * time.Second)
	if n := len(s.history()) - before; n > 0 {
		s.t.Fatalf("VOID: %d writes although what the controller reads is frozen", n)
	}
}

// readFrom lets the first controller read from a second API server.
func (s *stage) readFrom(l *lagging) {
	p := s.controllers[0].proxy
	p.set(faults{ReadsFrom: l.url})
	p.cut()
}

// restart kills the first controller, and starts it anew.
func (s *stage) restart(between func()) {
	c := s.controllers[0]
	c.kill()
	between()
	c.start()
}
