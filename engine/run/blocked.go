package run

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
)

// trustedFor is how long permissions count as there that were just found so.
const trustedFor = 5 * time.Second

// suspect looks whether this process lacks a permission, when a write was
// forbidden. A write may be forbidden for another reason, such as an admission
// policy: that concerns one object, which is tried again like any that fails.
func (w *worker) suspect(r reconcile.Result) {
	forbidden := false
	for _, o := range r.Outcomes {
		forbidden = forbidden || apply.IsForbidden(o.Err)
	}
	if !forbidden || time.Now().UnixNano() < w.trusted.Load() || !w.suspecting.CompareAndSwap(false, true) {
		return
	}
	w.term.wg.Go(func() {
		defer w.suspecting.Store(false)
		w.awaitPermissions(w.watching)
	})
}

// awaitPermissions stops the writes of the policy while a permission is missing;
// after that, all its keys are decided about again.
func (w *worker) awaitPermissions(ctx context.Context) {
	for ctx.Err() == nil && !w.dropping.Load() {
		w.granted.forget()
		why := w.lacking(ctx)
		if why == "" {
			w.trusted.Store(time.Now().Add(trustedFor).UnixNano())
			w.resume()
			return
		}
		if w.health.block(why) {
			w.Log.Error("the policy writes nothing", observe.LogPolicy, w.id, "reason", why)
			w.news()
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.PollInterval):
		}
	}
}

// resume decides about all keys again, if writes were stopped.
func (w *worker) resume() {
	keys, was := w.health.unblock()
	if !was {
		return
	}
	w.Log.Info("the policy writes again", observe.LogPolicy, w.id)
	keys = append(keys, w.current().Keys()...)
	w.wakeAll(keys)
	w.news()
}

// news has the ConfigMaps brought up to date.
func (w *worker) news() {
	if w.changed != nil {
		w.changed()
	}
}

// lacking says which permissions the policy lacks; "" is none, or that it cannot
// be known.
func (w *worker) lacking(ctx context.Context) string {
	p := w.current().Policy
	missing, err := w.ask(ctx, p)
	switch {
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept the credentials of this process: " + err.Error()
	case len(missing) == 0:
		return ""
	default:
		return (&Forbidden{Policy: p.Name, Namespace: w.PolicyNamespace, User: w.accounts().User(p.Name), Missing: missing}).Error()
	}
}
