package eval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/builtins/calendar"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
)

// TestWindowsAgree: a debounced rule may run exactly while time.within is true for the
// same windows, and waits until that changes. A window that is wrong is wrong for both.
func TestWindowsAgree(t *testing.T) {
	t.Parallel()
	agreed, count := 0, budget.Of(60, 150)
	for seed := range uint64(count) {
		w := weeks{rand.New(rand.NewPCG(seed, 1))}
		text, allowed, name := w.windows()
		at := time.Date(2026, time.Month(1+w.IntN(12)), 1+w.IntN(28), w.IntN(24), w.IntN(60), w.IntN(60), 0, time.UTC)
		rule, problem := debounced(t, allowed)
		is, flip, err := within(text, name, at)
		if (problem != nil) != (err != nil) {
			t.Errorf("seed %d: %s: %v; %s: %v", seed, text, err, allowed, problem)
		}
		if problem != nil || err != nil {
			continue
		}
		agreed++
		want := at
		if !is {
			want = flip
		}
		if got := opening(rule.Debounce.Allowed, at); !got.Equal(want) {
			t.Errorf("seed %d: %s at %s in %s: the rule waits until %s, want %s", seed, text, at, name, got, want)
		}
	}
	if agreed < count*2/5 || agreed > count*14/15 {
		t.Errorf("of %d texts, %d are right", count, agreed)
	}
}

// weeks writes times of the week at random.
type weeks struct{ *rand.Rand }

func (w weeks) of(list ...string) string { return list[w.IntN(len(list))] }

// windows returns some as a text, as a list of YAML, and their time zone.
func (w weeks) windows() (text, list, name string) {
	name = w.of("Etc/UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia")
	if w.IntN(20) == 0 {
		name = w.of("Local", "Europe/Bonn")
	}
	var texts, items []string
	for range 1 + w.IntN(2) {
		var days []string
		for range 1 + w.IntN(2) {
			days = append(days, w.of("Mon", "tue", "WEDNESDAY", "Thu-Fri", "Sat-Mon", "Sun", "Sun", w.of("Mon", "Mo", "1", "Mon-", "Fri-Sunday")))
		}
		from, to := w.clock(), w.clock()
		texts = append(texts, strings.Join(days, ",")+" "+from+"-"+to)
		items = append(items, fmt.Sprintf("{days: [%s], from: %q, to: %q, timeZone: %s}", strings.Join(days, ", "), from, to, name))
	}
	return strings.Join(texts, "; "), strings.Join(items, ", "), name
}

func (w weeks) clock() string {
	if w.IntN(20) == 0 {
		return w.of("24:00", "24:01", "7:00", "07:60", "x")
	}
	return fmt.Sprintf("%02d:%02d", w.IntN(24), 15*w.IntN(4))
}

func within(text, name string, at time.Time) (is bool, flip time.Time, err error) {
	call := &expr.Call{Now: at, Flip: func(at time.Time) { flip = at }}
	v, err := calendar.Functions()[0].Do(call, []value.Value{value.OfString(text), value.OfString(name)})
	return err == nil && value.IsTrue(v), flip, err
}

func debounced(t *testing.T, allowed string) (*plan.Rule, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  rules:\n" +
		"    - name: r\n      debounce: {key: k, window: 1s, allowed: [" + allowed + "]}\n      do: [{log: {message: m}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Err() != nil {
		return nil, b.Err()
	}
	return b.Policies[0].Rules[0], nil
}
