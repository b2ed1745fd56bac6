package snapshot

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Values are the values of Secrets that people and files do not get.
type Values struct{ digests *strings.Replacer }

// ValuesOf returns the values of the Secrets among objects.
func ValuesOf(objects ...Object) *Values {
	digestOf := map[string]string{}
	for _, o := range objects {
		digests, _ := ShownObject(o)["data"].(Object)
		data, _ := apiserver.StoredSecret(o)["data"].(Object)
		for key, digest := range digests {
			encoded, _ := data[key].(string)
			to, _ := digest.(string)
			plain, err := base64.StdEncoding.DecodeString(encoded)
			if encoded == to || err != nil || len(plain) < readmodel.MinHeld {
				continue
			}
			quoted := strconv.Quote(string(plain))
			for _, text := range []string{encoded, string(plain), quoted[1 : len(quoted)-1]} {
				digestOf[text] = max(to, digestOf[text])
			}
		}
	}
	longest := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	var pairs []string
	for _, text := range slices.SortedFunc(maps.Keys(digestOf), longest) {
		pairs = append(pairs, text, digestOf[text])
	}
	return &Values{strings.NewReplacer(pairs...)}
}

// ShownObject returns an object for people and files: a Secret with digests in place of
// values, and with the mark that says so. Any other is returned as it is.
func ShownObject(o Object) Object {
	metadata, _ := o["metadata"].(Object)
	if o == nil || apiserver.ID(o).GVK() != schema.Secret || digested(metadata) {
		return o
	}
	out := maps.Clone(readmodel.Redacted(apiserver.StoredSecret(o)))
	metadata, _ = out["metadata"].(Object)
	metadata = maps.Clone(metadata)
	Mark(metadata)
	out["metadata"] = metadata
	return out
}

// ShownPatch is ShownObject for what is written to an object.
func (v *Values) ShownPatch(target world.ID, patch any) any {
	body, ok := patch.(Object)
	if !ok || target.GVK() != schema.Secret {
		return patch
	}
	return v.Hide(readmodel.RedactedAs(target.Namespace(), target.Name(), body))
}

// Hide returns a plain JSON value with the digest of a value, encoded or not, in place of it
// in each text.
func (v *Values) Hide(x any) any {
	switch x := x.(type) {
	case string:
		return v.Text(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = v.Hide(x[i])
		}
		return out
	case Object:
		out := make(Object, len(x))
		for name, field := range x {
			out[name] = v.Hide(field)
		}
		return out
	}
	return x
}

// Text is Hide for a text.
func (v *Values) Text(text string) string { return v.digests.Replace(text) }
