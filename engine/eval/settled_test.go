package eval_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/test/allocations"
)

// TestSettled: a decision that wanted nothing is the next one, too, until something that
// it depends on is otherwise. Each is compared with that of an evaluation from scratch.
func TestSettled(t *testing.T) {
	t.Parallel()
	const (
		w     = "{kind: Widget, metadata: {name: w, labels: {k: '0'}}, spec: {num: 1}}"
		boxes = "  inputs: [{name: boxes, apiVersion: example.com/v1, kind: Box}]\n"
	)
	for name, tc := range map[string]struct {
		spec    string
		objects []string
		// change is an object that changes, after how long the time of the second decision.
		change string
		after  time.Duration
		first  []string
		want   []string
	}{
		"nothing": {spec: boxes + do("labels: {set: {k: '0'}}"), objects: []string{w}, change: w},
		"the object": {
			spec: do("labels: {set: {k: '0'}}"), objects: []string{w}, change: "{kind: Widget, metadata: {name: w, labels: {k: '1'}}}",
			want: []string{`r1: patch w {"metadata":{"labels":{"k":"0"}}}`},
		},
		"an object that an action names": {
			spec:    do("annotations: {of: {apiVersion: v1, kind: Node, name: node}, set: {x: '1'}}"),
			objects: []string{w, "{apiVersion: v1, kind: Node, metadata: {name: node, annotations: {x: '1'}}}"},
			change:  "{apiVersion: v1, kind: Node, metadata: {name: node, annotations: {x: '2'}}}",
			want:    []string{`r1: patch node {"metadata":{"annotations":{"x":"1"}}}`},
		},
		"an object that was not there": {
			spec:    do("annotations: {of: {apiVersion: v1, kind: Node, name: node}, set: {x: '1'}}"),
			objects: []string{w},
			change:  "{apiVersion: v1, kind: Node, metadata: {name: node, annotations: {x: '2'}}}",
			want:    []string{`r1: patch node {"metadata":{"annotations":{"x":"1"}}}`},
		},
		"an input": {
			spec: boxes + do("labels: {set: {k: \"${size(inputs.boxes) > 0 ? '1' : '0'}\"}}"), objects: []string{w}, change: "{kind: Box, metadata: {name: b}}",
			want: []string{`r1: patch w {"metadata":{"labels":{"k":"1"}}}`},
		},
		"time that is to come": {
			spec: do("labels: {set: {k: \"${elapsed(timestamp('2026-03-01T12:00:00Z'), duration('5s')) ? '1' : '0'}\"}}"), objects: []string{w}, change: w, after: time.Second,
			first: []string{"next 5s"}, want: []string{"next 5s"},
		},
		"time that has come": {
			spec: do("labels: {set: {k: \"${elapsed(timestamp('2026-03-01T12:00:00Z'), duration('5s')) ? '1' : '0'}\"}}"), objects: []string{w}, change: w, after: 5 * time.Second,
			first: []string{"next 5s"}, want: []string{`r1: patch w {"metadata":{"labels":{"k":"1"}}}`},
		},
		"a deadline of something else than what has changed": {
			spec: boxes + "  variables: [{name: late, expression: \"elapsed(timestamp('2026-03-01T12:00:00Z'), duration('5s'))\"}]\n" +
				do("labels: {set: {k: \"${variables.late ? '1' : '0'}\"}}", "labels: {set: {k: \"${size(inputs.boxes) > 1 ? '1' : '0'}\"}}"),
			objects: []string{w}, change: "{kind: Box, metadata: {name: b}}", first: []string{"next 5s"}, want: []string{"next 5s"},
		},
		"the time itself": {
			spec:    do("annotations: {set: {since: \"${now}\"}}"),
			objects: []string{"{kind: Widget, metadata: {name: w, annotations: {since: '2026-03-01T12:00:00Z'}}}"},
			change:  "{kind: Widget, metadata: {name: x}}", after: time.Minute,
			want: []string{`r1: patch w {"metadata":{"annotations":{"since":"2026-03-01T12:01:00Z"}}}`},
		},
		"what a rule has changed and another changed back": {
			spec: boxes + "  variables: [{name: many, expression: \"object.metadata.labels.k == '1' ? size(inputs.boxes) : 0\"}]\n  rules:\n" +
				"    - {name: before, when: variables.many > 0, do: [{labels: {set: {many: before}}}]}\n" +
				"    - {name: there, do: [{labels: {set: {k: '1'}}}]}\n" +
				"    - {name: between, when: variables.many > 0, do: [{labels: {set: {many: between}}}]}\n" +
				"    - {name: back, do: [{labels: {set: {k: '0'}}}]}\n",
			objects: []string{w}, change: "{kind: Box, metadata: {name: b}}",
			want: []string{`there, between, back: patch w {"metadata":{"labels":{"many":"between"}}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.spec, tc.objects...)
			if diff := cmp.Diff(append([]string{}, tc.first...), told(b.decide(widget, now))); diff != "" {
				t.Errorf("first, -want +got:\n%s", diff)
			}
			b.put(tc.change)
			if diff := cmp.Diff(append([]string{}, tc.want...), told(b.decide(widget, now.Add(tc.after)))); diff != "" {
				t.Errorf("after the change, -want +got:\n%s", diff)
			}
		})
	}
}

// TestSettledWithManyObjects: a decision that looked up many objects is settled as well, and
// found to be otherwise by a change of any of them.
func TestSettledWithManyObjects(t *testing.T) {
	const n = 500
	b := newBench(t, "  inputs: [{name: boxes, apiVersion: example.com/v1, kind: Box}]\n  rules:\n    - {name: r, forEach: inputs.boxes, as: box, do: [{labels: {of: box, set: {k: '0'}}}]}\n"+
		"    - {name: s, forEach: inputs.boxes, as: box, do: [{annotations: {of: box, set: {a: null}}}]}\n",
		"{kind: Widget, metadata: {name: w}}")
	for i := range n {
		b.put(fmt.Sprintf("{kind: Box, metadata: {name: b%d, labels: {k: '0'}}}", i))
	}
	b.decide(widget, now)
	if kept := b.memos[widget].Kept(); kept < 8*n || kept > 2*8*n {
		t.Errorf("%d bytes are kept of %d objects that two rules looked up", kept, n)
	}
	in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}
	if got := allocations.Fewest(func() { eval.Evaluate(t.Context(), in, b.memos[widget]) }); got > 20 {
		t.Errorf("%v allocations to decide once more about what has not changed", got)
	}
	for _, i := range []int{0, n / 2, n - 1} {
		b.put(fmt.Sprintf("{kind: Box, metadata: {name: b%d, labels: {k: '1'}}}", i))
		want := []string{fmt.Sprintf(`r: patch b%d {"metadata":{"labels":{"k":"0"}}}`, i)}
		if diff := cmp.Diff(want, told(b.decide(widget, now))); diff != "" {
			t.Errorf("box %d, -want +got:\n%s", i, diff)
		}
		b.put(fmt.Sprintf("{kind: Box, metadata: {name: b%d, labels: {k: '0'}}}", i))
	}
}

// TestSettledAgain: a settled decision is given again itself, however many others are made
// with the same memory meanwhile, until it is otherwise.
func TestSettledAgain(t *testing.T) {
	t.Parallel()
	type key struct {
		in      eval.Input
		memo    *eval.Memo
		want    []string
		last    *eval.Decision
		settled bool
	}
	var keys []*key
	for _, spec := range []string{
		"  inputs: [{name: boxes, apiVersion: example.com/v1, kind: Box}]\n" + do("labels: {set: {k: \"${string(size(inputs.boxes))}\"}}", "log: {level: info, message: \"${size(inputs.boxes)}\"}"),
		do("labels: {set: {k: \"${elapsed(timestamp('2026-03-01T12:00:00Z'), duration('5s')) ? '1' : '0'}\"}}"),
		do("labels: {set: {k: '0'}}"), // takes the memory of the one with a deadline
	} {
		b := newBench(t, spec, "{kind: Widget, metadata: {name: w, labels: {k: '0'}}, spec: {num: 1}}")
		k := &key{in: eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}, memo: &eval.Memo{}}
		first := eval.Evaluate(t.Context(), k.in, k.memo)
		k.want, k.settled, k.last = told(eval.Plain(t.Context(), k.in)), len(first.Log) == 0, eval.Evaluate(t.Context(), k.in, k.memo)
		keys = append(keys, k)
	}
	for range 100 {
		for i, k := range keys {
			got := eval.Evaluate(t.Context(), k.in, k.memo)
			if diff := cmp.Diff(k.want, told(got)); diff != "" || k.settled != (got == k.last) {
				t.Fatalf("key %d, the decision before: %v, -want +got:\n%s", i, got == k.last, diff)
			}
			k.last = got
		}
	}
	for i, k := range keys {
		k.in.Now = now.Add(5 * time.Second)
		if diff := cmp.Diff(told(eval.Plain(t.Context(), k.in)), told(eval.Evaluate(t.Context(), k.in, k.memo))); diff != "" {
			t.Errorf("key %d later, -want +got:\n%s", i, diff)
		}
	}
}

// TestErrorsThatChange: what reads a variable that fails fails with its error of now.
func TestErrorsThatChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, "  variables:\n    - {name: a, expression: \"object.spec.num == 1 ? object.spec.one : object.spec.two\"}\n    - {name: b, expression: \"variables.a + 1\"}\n"+
		do("status: {b: \"${variables.b}\"}"))
	for num, field := range []string{1: "one", 2: "two"} {
		b.put(fmt.Sprintf("{kind: Widget, metadata: {name: w}, spec: {num: %d}}", num))
		if got := strings.Join(told(b.decide(widget, now)), "\n"); num > 0 && !strings.Contains(got, strconv.Quote(field)) {
			t.Errorf("without %s it decides %s", field, got)
		}
	}
}
