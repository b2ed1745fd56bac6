package cel

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// unusable are types of which policies have no values.
var unusable = regexp.MustCompile(`google\.protobuf\.\w+Value|wrapper\(|authorization\.|^in\(|^dyn\.includes`)

// Signatures returns how the functions of CEL and its libraries are called, by name:
// those of the environment that are no builtins and no operators, and the macros. The
// caller must not change them.
func (e *Env) Signatures() map[string][]string { return e.signatures() }

func (e *Env) readSignatures() map[string][]string {
	out := map[string][]string{}
	for name, f := range e.base().Functions() {
		if e.functions[name] != nil || strings.ContainsAny(name, "@_!") || strings.HasPrefix(name, "-") {
			continue
		}
		for _, o := range f.Documentation().Children {
			if s := plainNames.Replace(o.Signature); !unusable.MatchString(o.Signature) && !slices.Contains(out[name], s) {
				out[name] = append(out[name], s)
			}
		}
	}
	return out
}

// Macros returns the names of the macros, without those of the builtins.
func (e *Env) Macros() (out []string) {
	own := map[string]bool{}
	for name := range e.functions {
		own[name[strings.LastIndex(name, ".")+1:]] = true
	}
	for _, m := range e.base().Macros() {
		if name := m.Function(); !own[name] {
			out = append(out, cmp.Or(inLibrary[name], name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inLibrary are macros that are called on the name of their library.
var inLibrary = map[string]string{"greatest": "math.greatest", "least": "math.least", "fold": "list.fold"}

// plainNames are types as a person writes them.
var plainNames = strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration", "optional_type(", "optional(",
	"kubernetes.", "", "net.", "")
