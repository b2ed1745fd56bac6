// Package schema holds the JSON schemas of the documents that authors write.
// go run ./hack/schema writes those of the kinds of the API group; those of answers
// and timelines are written by hand, and tests hold them to what is read.
package schema

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

const suffix = ".schema.json"

// Base is where the schemas are published.
const Base = "https://raw.githubusercontent.com/edict-dev/edict/main/docs/schema/"

// Names returns the names of the schemas, such as policy.
func Names() (out []string) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // the files are in the program
	}
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(out)
	return out
}

// Read returns the schema of a name; false when there is none.
func Read(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + suffix)
	return text, err == nil
}

// Modeline is the comment by which an editor finds the schema of a document.
func Modeline(name string) string {
	return "# yaml-language-server: $schema=" + Base + name + suffix
}

// Of returns the name of the schema of a kind of document; "" when there is none.
func Of(kind string) string {
	if name := strings.ToLower(kind); name != "" && slices.Contains(Names(), name) {
		return name
	}
	return ""
}
