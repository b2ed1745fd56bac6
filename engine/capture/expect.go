package capture

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/value"
)

// agree reports how what was done again differs from the record: its first writes
// for the key must be those of the record, with digests in place of values of Secrets.
func agree(r *record.Record, got simulate.Result, values *snapshot.Values) error {
	var again []simulate.Effect
	for _, e := range got.Effects {
		if e.Key == r.Inputs.Key {
			again = append(again, e)
		}
	}
	for i, e := range r.Decision.Effects {
		if i >= len(again) {
			why := ""
			if len(got.Errors) > 0 {
				why = ": " + got.Errors[0].Message
			}
			return fmt.Errorf("%w: it does not write %s %s again%s", ErrNotAlone, e.Target.Kind(), e.Target.Name(), why)
		}
		want, have := plainEffect(e, values), effect{Verb: again[i].Verb, Subresource: again[i].Subresource, Kind: again[i].Target.Kind, Namespace: again[i].Target.Namespace, Name: again[i].Target.Name, Patch: apiserver.Generic(again[i].Patch)}
		if r.SeesValues() {
			unapplied(want.Patch, r.Inputs.Policy.Owner())
			unapplied(have.Patch, r.Inputs.Policy.Owner())
		}
		if diff := cmp.Diff(want, have); diff != "" {
			return fmt.Errorf("%w: it writes otherwise (-then +again):\n%s", ErrNotAlone, diff)
		}
	}
	return nil
}

// unapplied removes the digest of the last apply, which depends on values of Secrets.
func unapplied(patch any, policy string) {
	body, _ := patch.(map[string]any)
	metadata, _ := body["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, plan.AppliedKey(policy))
}

// effect is what two writes have to have in common.
type effect struct {
	Verb, Subresource, Kind, Namespace, Name string
	Patch                                    any
}

func plainEffect(e *eval.Effect, values *snapshot.Values) effect {
	return effect{Verb: e.Verb, Subresource: e.Subresource, Kind: e.Target.Kind(), Namespace: e.Target.Namespace(), Name: e.Target.Name(), Patch: values.Hide(apiserver.Generic(value.Plain(e.Patch)))}
}

// expectation returns what a test expects.
func expectation(r *record.Record, got simulate.Result) map[string]any {
	effects := []any{}
	for _, e := range got.Effects {
		one, _ := apiserver.Generic(e).(map[string]any)
		delete(one, "at")
		_, one["policy"] = identity.ParsePolicyID(e.Policy) // in a file it is in no set
		effects = append(effects, one)
	}
	out := map[string]any{"effects": effects}
	errs := []any{}
	for _, e := range got.Errors {
		errs = append(errs, withoutFolder(e.Message, r.Inputs.Policy.Source.File))
	}
	if len(errs) > 0 {
		out["errors"] = errs
	}
	requeue := []any{}
	for _, q := range got.Requeue {
		requeue = append(requeue, q.At.UTC().Format(time.RFC3339Nano))
	}
	if len(requeue) > 0 {
		out["requeue"] = requeue
	}
	return out
}

// withoutFolder returns an error message from where it names the policy's file: the
// folder of the file is another one for the test.
func withoutFolder(message, file string) string {
	message, _, _ = strings.Cut(message, "\n")
	if at := strings.LastIndex(message, file); at >= 0 {
		return message[at+len(file)-len(filepath.Base(file)):]
	}
	return message
}
