package doctor

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Document is one file of a bundle.
type Document struct {
	Name  string
	About string // what it is, for who is asked to give it away
	Text  string
}

// Bundle writes documents as one archive, without their secrets, and before them
// one that says what is in it.
func Bundle(w io.Writer, now time.Time, m Mask, all []Document) error {
	archive := zip.NewWriter(w)
	for _, d := range append([]Document{contents(now, all)}, all...) {
		to, err := archive.CreateHeader(&zip.FileHeader{Name: d.Name, Method: zip.Deflate, Modified: now})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(to, m.Text(d.Text)); err != nil {
			return err
		}
	}
	return archive.Close()
}

func contents(now time.Time, all []Document) Document {
	var text strings.Builder
	fmt.Fprintf(&text, "What c3po doctor found out on %s, for a bug report.\n\n", now.UTC().Format(time.DateTime)+" UTC")
	for _, d := range all {
		fmt.Fprintf(&text, "%-20s %s\n", d.Name, d.About)
	}
	fmt.Fprintf(&text, `
Tokens, keys, passwords in addresses, invitations and the secrets of the settings
are replaced by %s, and the home folder by ~. No message is in it. Names of agents,
hosts and folders are: look through it before you give it away.
`, mask)
	return Document{Name: "README.txt", Text: text.String()}
}
