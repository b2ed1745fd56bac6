package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/scaffold"
	"github.com/edict-dev/edict/examples/cookbook"
)

// initFlags are those of edict init.
type initFlags struct {
	from, to string
	list     bool
}

func initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "Begin a policy with its tests, from a recipe of the cookbook",
		Long: `Writes the policy, the tests and the allowances of a recipe into a folder, under
the name of the new policy. They pass edict check --strict and edict test; change
them from there. A file that exists is not written over.`,
		Example: "  edict init --list\n  edict init node-guard --from node-taint",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return listRecipes(cmd.OutOrStdout())
			}
			if len(args) == 0 {
				return errors.New("init needs the name of the new policy; --list shows the recipes")
			}
			return f.run(cmd.OutOrStdout(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "node-taint", "the recipe")
	flags.StringVar(&f.to, "to", "", "the folder to write into (default: one of the name of the policy)")
	flags.BoolVar(&f.list, "list", false, "list the recipes")
	_ = cmd.RegisterFlagCompletionFunc("from", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return recipeNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func listRecipes(w io.Writer) error {
	recipes, err := scaffold.Recipes(cookbook.Files)
	if err != nil {
		return err
	}
	for _, r := range recipes {
		if _, err := fmt.Fprintf(w, "%-20s %s\n", r.Name, r.Short); err != nil {
			return err
		}
	}
	return nil
}

func recipeNames() (out []string) {
	recipes, err := scaffold.Recipes(cookbook.Files)
	if err != nil {
		return nil
	}
	for _, r := range recipes {
		out = append(out, r.Name)
	}
	return out
}

func (f *initFlags) run(w io.Writer, name string) error {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return fmt.Errorf("a policy cannot be named %q: %s", name, strings.Join(wrong, "; "))
	}
	files, err := scaffold.Make(cookbook.Files, f.from, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no recipe %q%s; --list shows them", f.from, hinted(document.DidYouMean(f.from, recipeNames())))
	}
	if err != nil {
		return err
	}
	folder := cmp.Or(f.to, name)
	for _, file := range files {
		err := writeNew(filepath.Join(folder, file.Path), file.Text)
		if errors.Is(err, fs.ErrExist) {
			return found("%s exists, and is not written over: take another name, or another folder with --to", filepath.Join(folder, file.Path))
		}
		if err != nil {
			return found("%v", err)
		}
		fmt.Fprintln(w, filepath.Join(folder, file.Path))
	}
	_, err = fmt.Fprintf(w, "\nnext:\n  edict check --strict %s\n  edict test %s\n", folder, folder)
	return err
}

// writeNew writes a file that does not exist.
func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as a person would make it
		return err
	}
	return createFile(path, text, 0o644)
}

// createFile writes a file that does not exist.
func createFile(path string, text []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
