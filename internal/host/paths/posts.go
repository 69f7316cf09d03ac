package paths

import "strings"

// KeptPosts is the folder of mail that c3po hooks could not send yet, to a coordinator and a
// space, as an agent.
func (f Folders) KeptPosts(url, space, as string) (string, error) {
	if _, err := f.within("hooks"); err != nil {
		return "", err
	}
	return f.within("hooks/" + strings.TrimSuffix(noteOf(strings.Join([]string{url, space, as}, "\n")), ".json"))
}
