package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/format"
	"github.com/edict-dev/edict/engine/load"
)

// fmtFlags are those of edict fmt.
type fmtFlags struct{ check, write bool }

func fmtCommand() *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt PATH...",
		Short: "Format policies, policy tests and allowances",
		Long: `Formats the documents at each PATH (a file, a folder, or - for the standard
input) and prints them: two spaces for a level, the sections of a spec in one
order, no white space at the end of a line, single empty lines. Comments, quotes
and expressions stay as they are, and so does the revision of a policy. Other
documents, such as manifests, are not changed.

With -w the files are written; with --check those that would change are listed, and when
there are some, the exit code is 1.`,
		Example: "  edict fmt -w policies\n  edict fmt --check policies policy-tests",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "list the files that would change, and write nothing")
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "write the files")
	cmd.MarkFlagsMutuallyExclusive("check", "write")
	return cmd
}

func (f *fmtFlags) run(paths []string, in io.Reader, out io.Writer) error {
	changed := 0
	var wrong []error
	for _, path := range paths {
		files, err := sourcesAt(path, in)
		if err != nil {
			return found("%v", err)
		}
		for _, file := range files {
			text, err := format.Text(file.Path, file.Text)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			if !bytes.Equal(text, file.Text) {
				changed++
			}
			if err := f.show(file, text, out); err != nil {
				return err
			}
		}
	}
	if len(wrong) > 0 {
		return found("%v", errors.Join(wrong...))
	}
	if f.check && changed > 0 {
		return found("%s not formatted; edict fmt -w does it", count(changed, "file is", "files are"))
	}
	return nil
}

// sourcesAt reads the files at a path; - is the standard input.
func sourcesAt(path string, in io.Reader) ([]load.Source, error) {
	if path != "-" {
		return load.Files(path)
	}
	text, err := io.ReadAll(in)
	return []load.Source{{Path: "-", Text: text}}, err
}

// show prints what became of a file, or writes it.
func (f *fmtFlags) show(file load.Source, text []byte, out io.Writer) error {
	same := bytes.Equal(text, file.Text)
	switch {
	case f.check && !same:
		_, err := fmt.Fprintln(out, file.Path)
		return err
	case f.write && !same && file.Path != "-":
		info, err := os.Stat(file.Path)
		if err != nil {
			return err
		}
		return os.WriteFile(file.Path, text, info.Mode().Perm())
	case !f.check && !f.write || f.write && file.Path == "-":
		_, err := out.Write(text)
		return err
	}
	return nil
}
