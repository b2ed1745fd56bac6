package simulate

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// Fault makes the next writes that match fail.
type Fault struct {
	Verb  string `json:"verb"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Times int    `json:"times"`
	Code  int    `json:"code"`
	// Crash kills the controller after so many writes of any kind, and starts it
	// again.
	Crash int `json:"crash,omitempty"`
	// Order are the keys to decide about next, as POLICY [NAMESPACE/]NAME; all others
	// wait for another order, or for Others in it.
	Order *[]string `json:"order,omitempty"`

	happened bool
}

// verbs are those of writes that can fail; "" is any.
var verbs = []string{"", eval.VerbPatch, eval.VerbCreate, eval.VerbApply, eval.VerbDelete, eval.VerbScale, eval.VerbEvict, eval.VerbApprove, eval.VerbEvent}

// Check returns an error for a verb that no write has.
func (f *Fault) Check() error {
	if slices.Contains(verbs, f.Verb) {
		return nil
	}
	hint := document.DidYouMean(f.Verb, verbs)
	if hint != "" {
		hint = "; " + hint
	}
	return fmt.Errorf("there is no verb %q%s", f.Verb, hint)
}

// Happened reports whether a write has failed because of it.
func (f *Fault) Happened() bool { return f.happened }

// fault fails a write that the timeline wants to fail.
func (s *server) fault(verb string, id world.ID) error {
	if s.kill.dead() {
		return errKilled
	}
	if verb != "event" {
		defer s.kill.wrote()
	}
	for _, f := range s.faults {
		if f.Times <= 0 || f.Verb != "" && f.Verb != verb || f.Kind != "" && f.Kind != id.Kind() || f.Name != "" && f.Name != id.Name() {
			continue
		}
		f.Times--
		f.happened = true
		return statusError(f.Code, id)
	}
	return nil
}

func statusError(code int, id world.ID) error {
	resource := kschema.GroupResource{Resource: id.Kind()}
	switch code {
	case http.StatusConflict:
		return apierrors.NewConflict(resource, id.Name(), errors.New("injected"))
	case http.StatusNotFound:
		return apierrors.NewNotFound(resource, id.Name())
	case 0:
		code = http.StatusInternalServerError
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Message: "injected failure"}}
}

// errKilled is what a write comes to that the process does not live to send.
var errKilled = errors.New("the controller was killed before this write")

// killing counts the writes after which the process is killed.
type killing struct {
	armed bool
	left  int
}

func (k *killing) dead() bool { return k.armed && k.left <= 0 }

func (k *killing) wrote() {
	if k.armed {
		k.left--
	}
}
