package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestPlainAsKubectl: a scalar has the value that kubectl reads. Only y and n are texts, and
// names of fields are as they are written.
func TestPlainAsKubectl(t *testing.T) {
	t.Parallel()
	for word := range strings.FieldsSeq(`yes Yes YES yEs on On ON oN no No NO nO off Off OFF oFF true True TRUE tRUE false
		False FALSE null Null ~ nil 1 -1 +1 012 0o12 0x1F 0b11 1_000 1_000.5 .5 5. 1e3 1E-3 1.10 -0 0.0 12:30 2026-01-02
		2026-01-02T03:04:05Z 9007199254740993 10m 1Gi a.b 0x 08 _1 yes! on-off 'yes' "on"`) {
		for _, text := range []string{"k: %s", "k: [%s]", "{k: %s, on: 1}"} {
			text = fmt.Sprintf(text, word)
			want, err := yaml.YAMLToJSON([]byte(text))
			var problems Problems
			nodes := ParseUnbounded("f.yaml", []byte(text), &problems)
			if err != nil || problems.HasErrors() {
				if err == nil {
					t.Errorf("%s: %v", text, problems.List())
				}
				continue
			}
			got, _ := json.Marshal(nodes[0].Plain())
			if diff := cmp.Diff(strings.Replace(string(want), `"true":1`, `"on":1`, 1), string(got)); diff != "" {
				t.Errorf("%s (-kubectl +edict):\n%s", text, diff)
			}
		}
	}
}

// TestNoNumberOfJSON: what JSON has no number for is an error.
func TestNoNumberOfJSON(t *testing.T) {
	t.Parallel()
	for _, word := range []string{".inf", "-.Inf", ".NaN"} {
		var problems Problems
		ParseUnbounded("f.yaml", []byte("k: "+word), &problems)
		if want := "f.yaml:1:4: JSON has no number " + word; problems.Err() == nil || !strings.Contains(problems.Err().Error(), want) {
			t.Errorf("%s: got %v, want %s", word, problems.Err(), want)
		}
	}
}
