package selector

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/value"
)

// TestExample: the labels of an example match.
func TestExample(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x=1", "x in (b,a),y", "!x,y!=2,z notin (a)", "x>5", "x<5,y==1", "x,x=1"} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]value.Value{}
		for key, label := range newSelector(s).Example() {
			own[key] = value.OfString(label)
		}
		if !newSelector(s).Matches(value.FromMap(own)) {
			t.Errorf("%q does not match %v", text, own)
		}
	}
}
