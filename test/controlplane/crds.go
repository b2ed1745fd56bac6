package controlplane

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// InstallCRDs creates or updates every CustomResourceDefinition in the YAML
// files of folder, and returns when discovery lists their kinds.
func (c *ControlPlane) InstallCRDs(ctx context.Context, folder string) error {
	timeout := readyTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	_, err := envtest.InstallCRDs(c.Config(), envtest.CRDInstallOptions{
		Paths:              []string{folder},
		ErrorIfPathMissing: true,
		MaxTime:            timeout,
		PollInterval:       50 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("installing the CRDs of %s: %w", folder, err)
	}
	return nil
}
