package policies

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestSurvive: a panic is an error and is logged with its stack; an error stays as it is.
func TestSurvive(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var none map[string]int
	err := survive(log, func() error { none["a"] = 1; return nil })
	if err == nil || !strings.Contains(err.Error(), "internal error (panic): assignment to entry in nil map") || !strings.Contains(out.String(), "survive_test.go") {
		t.Errorf("%v: %s", err, out.String())
	}
	wrong := errors.New("wrong")
	if err := survive(log, func() error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
}
