package doctor

import "fmt"

// An Entry is what a file of the project says about c3po to a coding agent. It
// counts instead of what is installed for all projects.
type Entry struct {
	File    string
	Client  string // who reads it
	Program string // that it starts, as written
	Found   string // where that is; empty if nowhere
	URL     string // that it speaks to instead
	Env     string // the coordinator it names by a variable
	Off     bool
	Tracked bool  // git has the file, and the program is named by its full path
	Err     error // the file cannot be read
}

// An Exposed file holds a token where git would take it along.
type Exposed struct {
	File    string
	Tracked bool // git has it already
}

// project judges the files of the current folder.
func (f Facts) project() []Finding {
	const check = "project"
	var all []Finding
	for _, e := range f.Entries {
		if bad := f.entry(e); bad != nil {
			all = append(all, *bad)
		}
	}
	for _, x := range f.Exposed {
		if x.Tracked {
			all = append(all, red(check, "take the token out, c3po token revoke it, and remember that the history has it", "%s holds a token, and git has it", x.File))
			continue
		}
		all = append(all, red(check, fmt.Sprintf("take the token out, or add %s to .gitignore", x.File), "%s holds a token, and git does not ignore it", x.File))
	}
	if len(all) > 0 {
		return all
	}
	if len(f.Entries) > 0 {
		return []Finding{green(check, "%d of its files name c3po, and start this program", len(f.Entries))}
	}
	return []Finding{green(check, "none of its files changes what is installed, or holds a token")}
}

// entry is what is wrong with one; nil if nothing is.
func (f Facts) entry(e Entry) *Finding {
	const check = "project"
	remove := "remove what it says about c3po, or c3po install " + e.Client + " --project"
	var bad Finding
	switch {
	case e.Err != nil:
		bad = yellow(check, "correct it; "+e.Client+" may ignore all of it", "%s cannot be read", e.File)
	case e.Off:
		bad = yellow(check, "remove that line if it is not meant", "%s switches c3po off in %s", e.File, e.Client)
	case e.URL != "":
		bad = yellow(check, remove, "%s gives %s the coordinator %s instead of c3po mcp, so mail wakes nobody", e.File, e.Client, e.URL)
	case e.Program != "" && e.Found == "":
		bad = red(check, remove, "%s gives %s the program %s, which is not there", e.File, e.Client, e.Program)
	case e.Found != "" && e.Found != f.Program:
		bad = yellow(check, remove, "%s gives %s another program: %s", e.File, e.Client, e.Found)
	case e.Env != "" && e.Env != f.Coordinator.URL:
		bad = yellow(check, remove, "%s gives %s another coordinator: %s", e.File, e.Client, e.Env)
	case e.Tracked:
		bad = yellow(check, "write c3po instead of the path, or let git ignore the file", "%s names a program of this machine, and git has it: it is not there on others", e.File)
	default:
		return nil
	}
	return &bad
}
