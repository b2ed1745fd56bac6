// Command look explores the world of each folder of policies and objects that it is
// given, and prints what it finds: a line FOLDER: KIND: MESSAGE each, or FOLDER: nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/verify"
)

func main() {
	for _, folder := range os.Args[1:] {
		text, err := look(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, folder, err)
			os.Exit(1)
		}
		fmt.Println(filepath.Base(folder) + ": " + text)
	}
}

// states is how many states are looked at.
const states = 3000

// changes is how many changes from outside there are, if not one: an object goes and
// comes back, or a key turns to another object that then changes.
var changes = map[string]int{"own": 2, "entries": 2, "named": 2}

func look(folder string) (string, error) {
	b, err := source.Load([]string{filepath.Join(folder, "policy.yaml")}, source.Options{})
	if err != nil {
		return "", err
	}
	if err := b.Err(); err != nil {
		return "", err
	}
	objects, err := simulate.ReadObjects(filepath.Join(folder, "objects.yaml"))
	if err != nil {
		return "", err
	}
	r, err := verify.Run(context.Background(), verify.Options{
		Findings: 1,
		Policies: b.Policies, Schemas: b.Schemas, Guard: guard.New(b.Allowances).Assuming(), Objects: objects,
		Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Changes: max(1, changes[filepath.Base(folder)]), States: states, MayForget: []string{"remembered"},
	})
	switch {
	case err != nil:
		return "", err
	case len(r.Findings) == 0:
		return fmt.Sprintf("nothing in %d states", r.Explored.States), nil
	}
	return string(r.Findings[0].Kind) + ": " + r.Findings[0].Message, nil
}
