package hash

import (
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// TestDigests: known values, some of them written into names by earlier
// versions of the storage controller.
func TestDigests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"hash.sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"hash.sha256", "a", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
		{"hash.sha256", "ü", "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f"},
		{"hash.fnv1a128", "", "6c62272e07bb014262b821756295c58d"},
		{"hash.fnv1a128", "a", "d228cb696f1a8caf78912b704e4a8964"},
		{"hash.fnv1a128", "\x00", "d228cb69101a8caf78912b704e4a147f"},
		{"hash.fnv1a128", "vg-a\x00thin-a", "14609268297a6e508ce870f5b8dcd71d"},
		{"hash.fnv1a128", "vg-a\x00", "e0564245aa83d94f70816f70ba546cfc"},
	} {
		for _, f := range Functions() {
			if f.Name != tc.name {
				continue
			}
			got, err := f.Do(nil, []value.Value{value.OfString(tc.text)})
			if text, _ := value.Str(got); err != nil || text != tc.want {
				t.Errorf("%s of %q is %s (%v), not %s", tc.name, tc.text, text, err, tc.want)
			}
		}
	}
}
