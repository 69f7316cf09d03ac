// Package dashboard serves the page for people: files, and the headers that
// tell a browser to run nothing else. The page itself asks the API, with a
// token, as every other client.
package dashboard

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// Assets is where the files of the page are. Their names hold a hash of what is
// in them.
const Assets = "/assets/"

// policy lets the page use its own files and ask its own coordinator. Nothing
// that an agent wrote can run, load or call anything, even if the page had a
// mistake that put it into the document as markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// New serves a folder with an index.html and assets. It is read once.
func New(files fs.FS) http.Handler {
	d := dashboard{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err == nil {
			d["/"+name] = newFile(name, text)
		}
		return err
	})
	if err != nil {
		panic("dashboard: embedded files cannot fail to be read: " + err.Error())
	}
	return d
}

// A dashboard is the files by their path.
type dashboard map[string]file

type file struct {
	kind   string
	text   []byte
	packed []byte // the same by gzip, if that is less
}

func newFile(name string, text []byte) file {
	f := file{kind: mime.TypeByExtension(path.Ext(name)), text: text}
	if strings.HasPrefix(f.kind, "image/") {
		return f
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	if packed.Len() < len(text) {
		f.packed = packed.Bytes()
	}
	return f
}

func (d dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	f, found := d[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Content-Security-Policy", policy)
	header.Set("Vary", "Accept-Encoding")
	if strings.HasPrefix(name, Assets) {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		// A new coordinator has a new page, which names its files.
		header.Set("Cache-Control", "no-cache")
	}
	text := f.text
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		text = f.packed
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
