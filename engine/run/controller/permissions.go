package controller

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/requirements"
)

// trustedFor is how long permissions count as there that were just found so.
const trustedFor = 5 * time.Second

// permissions stops the writes of a policy while it lacks a permission.
type permissions struct {
	requirements *requirements.Checker
	poll         time.Duration
	changed      func()
	// checking reports that the permissions are being checked, trusted until when they
	// count as granted, in nanoseconds.
	checking atomic.Bool
	trusted  atomic.Int64
}

// checkPermissions checks whether a permission is missing, after a write was forbidden.
// A write may be forbidden for another reason, such as an admission policy: that
// concerns one object, which is retried like any that fails.
func (w *worker) checkPermissions(r reconcile.Result) {
	forbidden := func(o apply.Outcome) bool { return apply.IsForbidden(o.Err) }
	if !slices.ContainsFunc(r.Outcomes, forbidden) || time.Now().UnixNano() < w.permissions.trusted.Load() || !w.permissions.checking.CompareAndSwap(false, true) {
		return
	}
	w.background(func() {
		defer w.permissions.checking.Store(false)
		w.awaitPermissions(w.watching)
	})
}

// awaitPermissions stops the writes of the policy while a permission is missing;
// after that, all its keys are decided about again.
func (w *worker) awaitPermissions(ctx context.Context) {
	for ctx.Err() == nil && !w.dropping.Load() {
		w.permissions.requirements.Forget()
		why := w.lacking(ctx)
		if why == "" {
			w.permissions.trusted.Store(time.Now().Add(trustedFor).UnixNano())
			w.resume()
			return
		}
		if w.health.block(why) {
			w.log.Error("the policy writes nothing", observe.LogPolicy, w.id, "reason", why)
			w.permissions.changed()
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.permissions.poll):
		}
	}
}

// resume decides about all keys again, if writes were stopped.
func (w *worker) resume() {
	keys, was := w.health.unblock()
	if !was {
		return
	}
	w.log.Info("the policy writes again", observe.LogPolicy, w.id)
	keys = append(keys, w.current().Keys()...)
	w.enqueue(keys)
	w.permissions.changed()
}

// lacking returns which permissions the policy lacks; "" is none, or that it is not
// known.
func (w *worker) lacking(ctx context.Context) string {
	p := w.current().Policy
	missing, err := w.permissions.requirements.MissingPermissions(ctx, p)
	switch {
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept the credentials of this process: " + err.Error()
	case missing.None():
		return ""
	default:
		return w.permissions.requirements.Forbidden(p, missing).Error()
	}
}
