package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mishap is a fault of a soak: it begins, lasts, and is mended.
type mishap struct {
	name  string
	begin func(s *stage, c *controller)
	end   func(s *stage, c *controller)
	lasts time.Duration
	away  bool // the API server is
}

var mishaps = []mishap{
	{name: "the API server is killed", begin: func(s *stage, _ *controller) { s.must(nil, s.plane.StopAPIServer()) },
		end: func(s *stage, _ *controller) { s.must(nil, s.plane.StartAPIServer(s.t.Context())) }, lasts: 3 * time.Second, away: true},
	{name: "the API server hangs", begin: func(s *stage, _ *controller) { s.must(nil, s.plane.PauseAPIServer()) },
		end: func(s *stage, _ *controller) { s.must(nil, s.plane.ResumeAPIServer()) }, lasts: 6 * time.Second, away: true},
	{name: "watches are cut", begin: func(_ *stage, c *controller) { c.proxy.cut() }, end: func(*stage, *controller) {}},
	{name: "watches expire", begin: func(_ *stage, c *controller) { c.proxy.set(faults{Expire: true}); c.proxy.cut() }, end: mended, lasts: 4 * time.Second},
	{name: "a third of the requests fail", begin: func(_ *stage, c *controller) { c.proxy.set(faults{Status: 500, Share: 0.3}) }, end: mended, lasts: 8 * time.Second},
	{name: "requests are slow", begin: func(_ *stage, c *controller) {
		c.proxy.set(faults{Delay: [2]time.Duration{50 * time.Millisecond, time.Second}})
	}, end: mended, lasts: 8 * time.Second},
	{name: "the leader is frozen", begin: func(_ *stage, c *controller) { c.freeze() },
		end: func(_ *stage, c *controller) { c.thaw() }, lasts: 12 * time.Second},
	{name: "the leader is killed", begin: func(_ *stage, c *controller) { c.kill() }, end: func(_ *stage, c *controller) { c.start() }, lasts: time.Second},
	{name: "the leader is stopped", begin: func(_ *stage, c *controller) { c.stop() }, end: func(_ *stage, c *controller) { c.start() }, lasts: time.Second},
	{name: "the leader is cut off", begin: func(_ *stage, c *controller) { c.proxy.set(faults{Down: true}); c.proxy.cut() }, end: mended, lasts: 18 * time.Second},
}

func mended(_ *stage, c *controller) { c.proxy.set(faults{}) }

// TestSoak runs for EDICT_SOAK with faults by chance, and prints how memory,
// goroutines and delays develop. After each fault the world comes to be as the
// policies say, at the end nothing has grown.
func TestSoak(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("EDICT_SOAK"))
	if err != nil {
		t.Skip("EDICT_SOAK says how long (make soak MINUTES=10)")
	}
	seed, _ := strconv.ParseUint(os.Getenv("EDICT_SEED"), 10, 64)
	random := rand.New(rand.NewPCG(seed, 3))
	s := set(t, 2)
	first := s.sample()
	t.Logf("%8s %-30s %s", "after", "fault", first)
	began := time.Now()
	var last sample
	for n := 1; time.Since(began) < lasts; n++ {
		m := mishaps[random.IntN(len(mishaps))]
		leader, _ := s.leader()
		s.traffic.begin()
		time.Sleep(time.Duration(3+random.IntN(5)) * time.Second)
		m.begin(s, leader)
		time.Sleep(m.lasts)
		m.end(s, leader)
		time.Sleep(3 * time.Second)
		s.traffic.end(map[bool]time.Duration{true: m.lasts + 6*time.Second}[m.away])
		s.eventually("at rest after "+m.name, 90*time.Second, s.pending)
		last = s.sample()
		t.Logf("%8v %-30s %s", time.Since(began).Round(time.Second), m.name, last)
	}
	s.judge()
	if last.goroutines > first.goroutines*1.1+20 {
		t.Errorf("goroutines have grown from %v to %v", first.goroutines, last.goroutines)
	}
	if last.heap > 2*first.heap+32<<20 {
		t.Errorf("the heap has grown from %.0f to %.0f MiB", first.heap/(1<<20), last.heap/(1<<20))
	}
}

// sample is what a soak measures of the leader at rest.
type sample struct {
	goroutines, heap, files float64
	delay                   time.Duration
}

// String writes a line of the table.
func (s sample) String() string {
	return fmt.Sprintf("goroutines %4.0f  heap %5.1f MiB  files %3.0f  from a change to its write %v", s.goroutines, s.heap/(1<<20), s.files, s.delay.Round(time.Millisecond))
}

// sample measures the leader, and how long a change takes to be written.
func (s *stage) sample() (out sample) {
	s.t.Helper()
	leader, _ := s.leader()
	ctx := s.t.Context()
	out.goroutines, _ = leader.gauge(ctx, "go_goroutines")
	out.heap, _ = leader.gauge(ctx, "go_memstats_heap_inuse_bytes")
	out.files, _ = leader.gauge(ctx, "process_open_fds")
	began := time.Now()
	text := strconv.FormatInt(began.UnixNano(), 10)
	s.must(nil, s.traffic.write(ctx, 0))
	api := s.client.Resource(configMaps)
	s.must(api.Namespace("source").Patch(ctx, "m0000", types.MergePatchType, fmt.Appendf(nil, `{"data":{"text":%q}}`, text), metav1.PatchOptions{}))
	for ctx.Err() == nil && !s.copied(ctx, text) {
		time.Sleep(2 * time.Millisecond)
	}
	out.delay = time.Since(began)
	return out
}

func (s *stage) copied(ctx context.Context, text string) bool {
	found, err := s.client.Resource(configMaps).Namespace("target").Get(ctx, "m0000", metav1.GetOptions{})
	return err == nil && strings.Contains(fmt.Sprint(found.Object["data"]), text)
}
