package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

// TestLibraryLog: what this process has canceled itself is no error of a library; all else
// is logged as it is.
func TestLibraryLog(t *testing.T) {
	var out bytes.Buffer
	klog.SetSlogLogger(slog.New(libraryLog{slog.NewTextHandler(&out, nil)}))
	defer klog.ClearLogger()
	canceled := &url.Error{Op: "Get", URL: "https://x", Err: context.Canceled}
	log := klog.FromContext(t.Context())
	log.Error(canceled, "a canceled request")
	log.WithName("named").WithValues("key", "value").Error(canceled, "another one")
	log.Error(errors.New("refused"), "a failed request")
	log.Info("a message", "err", canceled)
	log.Error(errors.New("leader election lost"), "error received after stop sequence was engaged")
	log.Error(errors.New("leader election lost"), "a lost lead")
	klog.Background().Error(context.DeadlineExceeded, "a slow request")
	for text, want := range map[string]bool{
		"a canceled request": false, "another one": false, "a failed request": true, "a message": true, "a slow request": true, "after stop": false, "a lost lead": true,
	} {
		if got := strings.Contains(out.String(), text); got != want {
			t.Errorf("%q is logged: %v, want %v", text, got, want)
		}
	}
}
