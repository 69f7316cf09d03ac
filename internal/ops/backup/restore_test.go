package backup

import (
	"archive/tar"
	"bytes"
	"os"
	"testing"
)

// Whatever a file holds, nothing is written but what a manifest names, in the folder.
func FuzzUnpack(f *testing.F) {
	pack := func(manifest, name, data string) []byte {
		var out bytes.Buffer
		archive := tar.NewWriter(&out)
		for _, file := range [][2]string{{manifestName, manifest}, {name, data}} {
			if err := archive.WriteHeader(&tar.Header{Name: file[0], Mode: 0o600, Size: int64(len(file[1]))}); err != nil {
				f.Fatal(err)
			}
			if _, err := archive.Write([]byte(file[1])); err != nil {
				f.Fatal(err)
			}
		}
		if err := archive.Close(); err != nil {
			f.Fatal(err)
		}
		return out.Bytes()
	}
	f.Add([]byte("not a backup"))
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // what nothing adds up to
	f.Add(pack(`{"format":1,"files":[{"name":"1.rdb","size":0,"sha256":"`+empty+`"}]}`, "1.rdb", ""))
	f.Add(pack(`{"format":1,"files":[{"name":"../1.rdb","size":1,"sha256":""}]}`, "../1.rdb", "x"))
	f.Add(pack(`{"format":1,"files":[{"name":"..","size":1,"sha256":""}]}`, "..", "x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		m, names, err := unpack(bytes.NewReader(data), dir)
		if err == nil && (len(names) == 0 || len(names) != len(m.Files)) {
			t.Errorf("%d files of %d", len(names), len(m.Files))
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > len(m.Files) {
			t.Errorf("%d files are there, the manifest names %d", len(entries), len(m.Files))
		}
	})
}
