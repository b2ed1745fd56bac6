package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
)

// The conditions of a request that say what was decided about it. None can be removed,
// and there is only one of them.
const (
	Approved = "Approved"
	Denied   = "Denied"
)

// approval approves or denies a request; nothing if that was done before.
func (x acting) approval(a *plan.Approve, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	signer := value.StringAt(t.value, "spec", "signerName")
	if !a.Signs(signer) {
		return &expr.Failure{At: a.Pos, Err: fmt.Errorf("the CertificateSigningRequest %s is for the signer %q, the action for %q: compare spec.signerName in when, or change signer", t.id.Name(), signer, a.Signer)}
	}
	list, _ := value.Path(t.value, "status", "conditions").(*value.List)
	if decided(list) {
		return nil
	}
	condition, err := x.approvalOf(a, f)
	if err != nil {
		return err
	}
	var all []value.Value
	if list != nil {
		all = slices.Clone(list.Items())
	}
	if e := writing(x).write(t, "", nest([]string{"status", "conditions"}, value.NewList(append(all, condition)))); e != nil {
		e.Verb, e.Signer = VerbApprove, signer
	}
	return nil
}

// decided reports whether a request was approved or denied.
func decided(conditions *value.List) bool {
	return conditions != nil && slices.ContainsFunc(conditions.Items(), func(c value.Value) bool {
		kind := value.StringAt(c, "type")
		return kind == Approved || kind == Denied
	})
}

// approvalOf evaluates the condition that approves or denies a request. The API server
// sets its times.
func (x acting) approvalOf(a *plan.Approve, f *frame) (*value.Map, error) {
	kind := Approved
	if a.Approved != nil {
		v, err := a.Approved.Eval(f, x.run.ev.meter)
		if err != nil {
			return nil, err
		}
		switch yes, ok := value.Unwrap(v).(types.Bool); {
		case !ok:
			return nil, &expr.Failure{At: a.Approved.Pos(), Err: fmt.Errorf("approved is true or false, this gives %v", value.Plain(v))}
		case !bool(yes):
			kind = Denied
		}
	}
	out := map[string]value.Value{"type": value.OfString(kind), "status": value.OfString("True")}
	reason, err := x.run.ev.text(a.Reason, f)
	if err != nil {
		return nil, err
	}
	message, err := x.run.ev.text(a.Message, f)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		out["reason"] = value.OfString(value.Cut(reason, status.MaxReason))
	}
	if message != "" {
		out["message"] = value.OfString(value.Cut(message, status.MaxConditionMessage))
	}
	return value.FromMap(out), nil
}
