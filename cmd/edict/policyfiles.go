package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/source"
)

// policyFiles are the files and folders of policies that a command is given, as PATH... or by -f,
// with what they are compiled with.
type policyFiles struct {
	paramValues

	policies, schemas []string
	// input is what the path - stands for, texts what was read of it.
	input func() io.Reader
	texts map[string][]byte
}

// standardInput is the path that stands for standard input.
const standardInput = "-"

// register adds the flags. --policies is --filename by another name.
func (f *policyFiles) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.policies, "filename", "f", nil, "a file or folder of policies, or - for standard input; may repeat")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "policies" {
			name = "filename"
		}
		return pflag.NormalizedName(name)
	})
	f.paramValues.register(flags)
	flags.StringArrayVar(&f.schemas, "schemas", nil, "a folder of CRDs; may repeat")
	f.input = cmd.InOrStdin
}

// takePaths makes the arguments of a command paths as well, of which it wants at least so many.
func (f *policyFiles) takePaths(cmd *cobra.Command, atLeast int) *cobra.Command {
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if f.policies = append(f.policies, args...); len(f.policies) < atLeast {
			return fmt.Errorf("no policies: name a file or folder, or - for standard input: %s", cmd.UseLine())
		}
		return nil
	}
	return cmd
}

// load reads and compiles the policies at some paths.
func (f *policyFiles) load(paths []string, o source.Options) (*source.Bundle, error) {
	var err error
	if o.Params, err = f.overrides(); err != nil {
		return nil, err
	}
	if slices.Contains(paths, standardInput) && f.texts == nil {
		text, err := io.ReadAll(f.input())
		if err != nil {
			return nil, found("reading policies from standard input: %v", err)
		}
		f.texts = map[string][]byte{standardInput: text}
	}
	o.Schemas, o.Texts = f.schemas, f.texts
	b, err := source.Load(paths, o)
	return b, asFinding(err)
}

// loadAll reads and compiles the policies, none of which may have an error.
func (f *policyFiles) loadAll() (*source.Bundle, error) {
	b, err := f.load(f.policies, source.Options{})
	if err != nil {
		return nil, err
	}
	return b, asFinding(b.Err())
}
