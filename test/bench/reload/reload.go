// Package reload measures how long an edit of a policy with many keys takes.
package reload

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// reloadKeys is how many volumes an edited policy has, most of them placed.
const reloadKeys = 10_000

// reloadNodes is how many nodes their pool has.
const reloadNodes = 1000

// reloadRuns is how often each edit is made; the median is shown.
const reloadRuns = 5

// edit is a change of a policy's text.
type edit struct{ what, old, now string }

var reloadEdits = []edit{
	{"a bonus: what is placed is not concerned", "default: 1000,", "default: %d,"},
	{"a variable of every rule: all keys", "variables.config.?topology.orValue(\"\")", "variables.config.?topology.orValue(\"%d\")"},
}

// reloading is a policy with many settled keys.
type reloading struct {
	ctx        context.Context //nolint:containedctx // one benchmark run
	group      *reconcile.Group
	controller *reconcile.Controller
	text       string
	folder     string
}

// Run measures how long an edit of the placing policy takes: from its text
// to being in force, and to deciding about whom it concerns.
func Run(ctx context.Context, to io.Writer) error {
	r, err := newReloading(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.folder) }()
	fmt.Fprintf(to, "an edit of the placing policy, %d volumes in a pool of 1000 nodes; median of %d\n\n", reloadKeys, reloadRuns)
	t := tabwriter.NewWriter(to, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "edit\tcompiled\tin force\tdecisions held up\tkeys concerned\tdecided\t")
	for _, e := range reloadEdits {
		if err := r.measure(t, e); err != nil {
			return err
		}
	}
	return t.Flush()
}

func newReloading(ctx context.Context) (*reloading, error) {
	bundle, err := source.Load([]string{filepath.Join("policies", "replica-scheduling.yaml")}, source.Options{})
	if err != nil {
		return nil, err
	}
	if err := bundle.Err(); err != nil {
		return nil, err
	}
	r := &reloading{ctx: ctx, group: reconcile.NewGroup(world.NewStore(), edict.Nothing{}, bundle.Schemas)}
	r.group.Answers = edict.Bare{}
	r.controller = r.group.Add(bundle.Policies[0])
	r.put(objects.EligiblePool("pool", 0, reloadNodes, -1, 1))
	for i := range reloadKeys {
		r.put(objects.Volume(i, "Zonal", "pool", objects.NodeName(i%reloadNodes)))
		r.put(objects.Placed(i, 0, i%reloadNodes))
	}
	text, err := os.ReadFile(filepath.Join("policies", "replica-scheduling.yaml"))
	if err != nil {
		return nil, err
	}
	if r.folder, err = os.MkdirTemp("", "edict-bench"); err != nil {
		return nil, err
	}
	r.text = string(text)
	r.decide(r.controller.Keys())
	return r, nil
}

func (r *reloading) put(o objects.Object) {
	for _, s := range r.controller.Sources() {
		if s.Kind == objects.Kind(o) {
			r.group.Put(r.ctx, s, o)
		}
	}
}

func (r *reloading) decide(keys []eval.Key) {
	for _, key := range keys {
		r.controller.Reconcile(r.ctx, key, objects.Now)
	}
}

// compile compiles the policy's text with an edit.
func (r *reloading) compile(e edit, n int) (*plan.Policy, error) {
	if !strings.Contains(r.text, e.old) {
		return nil, fmt.Errorf("the policy no longer holds %q", e.old)
	}
	path := filepath.Join(r.folder, "replica-scheduling.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(r.text, e.old, fmt.Sprintf(e.now, n))), 0o600); err != nil {
		return nil, err
	}
	b, err := source.Load([]string{path}, source.Options{Schemas: []string{filepath.Join("policies", "schemas")}})
	if err != nil {
		return nil, err
	}
	return b.Policies[0], b.Err()
}

// measure makes an edit some times.
func (r *reloading) measure(t *tabwriter.Writer, e edit) error {
	var compiled, force, held, decided []time.Duration
	concerned := 0
	for n := range reloadRuns {
		start := time.Now()
		p, err := r.compile(e, n+1)
		if err != nil {
			return err
		}
		compiled = append(compiled, time.Since(start))
		next := r.group.Add(p)
		keys := r.group.Replay(r.ctx, next)
		swap := time.Now()
		again := next.Adopt(r.controller, keys)
		held = append(held, time.Since(swap)) // nothing else is decided meanwhile
		r.group.Remove(r.controller)
		r.controller = next
		force = append(force, time.Since(start))
		concerned = len(again)
		start = time.Now()
		r.decide(again)
		decided = append(decided, time.Since(start))
	}
	fmt.Fprintf(t, "%s\t%v\t%v\t%v\t%d\t%v\t\n", e.what, median(compiled), median(force), median(held), concerned, median(decided))
	return nil
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2].Round(100 * time.Microsecond)
}
