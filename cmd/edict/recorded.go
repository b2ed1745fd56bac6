package main

import (
	"bytes"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/record"
)

// recordedFlags say where answers of builtins were recorded: in files, and in a
// running controller.
type recordedFlags struct {
	files    []string
	endpoint endpoint
}

func (f *recordedFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "recorded", nil, "a file with answers that builtins gave: what edict explain or simulate printed with -o json; may repeat, the last answer counts")
	f.endpoint.register(cmd, "http://localhost:4273, to use the answers that its builtins gave")
}

// answers returns the recorded answers, with next for what was not recorded.
func (f *recordedFlags) answers(ctx context.Context, next expr.Answerer) (expr.Answerer, error) {
	if len(f.files) == 0 && f.endpoint.address == "" {
		return next, nil
	}
	out := record.NewAnswers(next)
	for _, name := range f.files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, found("%v", err)
		}
		if err := out.Read(bytes.NewReader(text)); err != nil {
			return nil, found("%s: %v", name, err)
		}
	}
	if f.endpoint.address == "" {
		return out, nil
	}
	text, err := f.endpoint.get(ctx, live.AnswersPath)
	if err == nil {
		err = out.Read(bytes.NewReader(text))
	}
	if err != nil {
		return nil, found("reading the answers that the controller has recorded: %v", err)
	}
	return out, nil
}
