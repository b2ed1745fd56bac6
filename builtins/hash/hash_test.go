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

// TestConfigData: the digests that stand in clusters today.
func TestConfigData(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		data map[string]any
		want string
	}{
		{nil, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		{map[string]any{}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		{map[string]any{"MESSAGE": "hello"}, "c97eb42bc9ce1b80bdeae6b9ae820f2ecc57e5dc0296d7165ca9eab6b723c9c8"},
		{map[string]any{"MESSAGE": "v1"}, "48894775dea35442a62b057702871c840ae212ea351924a6b6077f5d061e70af"},
		{map[string]any{"b": "2", "a": "1"}, "21f76dfbfe6dfe21f762080ef484112cf2952974cef30741fd1931e1c6d92112"},
		{map[string]any{"k": ""}, "780dbee244ff7855be35a16ef5473b11ca05844f96977ba39be7f49a2434fbef"},
		{map[string]any{"k": "a<b>&c/\u00e9\u2028\U0001F600\n\t\"\\\x7f\x01"}, "28cb3212ecaa86dade1f5097b610e0d8c1947cd611c18a9aabd5d29faa54d5d2"},
	} {
		object := map[string]any{"kind": "ConfigMap"}
		if test.data != nil {
			object["data"] = test.data
		}
		got, err := configData(nil, []value.Value{value.Freeze(object, nil, value.KeepAll)})
		if text, _ := value.Str(got); err != nil || text != test.want {
			t.Errorf("%v: want %s, got %s (%v)", test.data, test.want, text, err)
		}
	}
}
