package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/edict-dev/edict/test/fixture"
)

// failing is a server that cannot be started the first time.
type failing struct {
	ctrlwebhook.Server
	starts []time.Time
}

// Start implements manager.Runnable.
func (f *failing) Start(ctx context.Context) error {
	if f.starts = append(f.starts, time.Now()); len(f.starts) == 1 {
		return errors.New("the port is taken")
	}
	<-ctx.Done()
	return nil
}

// TestCertifiedStart: the server starts once there is a certificate, and again after an error;
// it ends with its context and never with an error.
func TestCertifiedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, server := time.Now(), &failing{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := (certified{server, func() bool { return time.Since(begin) >= time.Second }, fixture.Log()}).Start(ctx); err != nil {
			t.Error(err)
		}
		if len(server.starts) != 2 || server.starts[0].Sub(begin) != time.Second || server.starts[1].Sub(begin) != time.Second+restartInterval {
			t.Errorf("it began at %v and was started at %v", begin, server.starts)
		}
	})
}
