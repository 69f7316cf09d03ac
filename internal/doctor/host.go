package doctor

import "strings"

func (f Facts) program() Finding {
	switch f.OnPath {
	case f.Program:
		return green("program", "c3po %s is %s", f.Version, f.Program)
	case "":
		return yellow("program", "add its folder to the PATH, or link it into one that is there", "c3po is not in the PATH; this is %s", f.Program)
	default:
		return yellow("program", "remove one of them, or change the PATH", "the PATH has another c3po: %s; this is %s", f.OnPath, f.Program)
	}
}

func (f Facts) config() Finding {
	if f.Config != nil {
		return trouble("settings", f.Config)
	}
	return green("settings", "c3po.yaml can be used, or is not there")
}

func (f Facts) files() []Finding {
	var all []Finding
	for _, file := range f.Files {
		switch {
		case file.Err != nil:
			all = append(all, trouble("credentials", file.Err))
		case file.Open:
			all = append(all, red("credentials", "chmod 600 "+file.Name+", and c3po token rotate for what was in it", "others may read %s", file.Name))
		}
	}
	if len(all) == 0 {
		return []Finding{green("credentials", "only their owner can read them")}
	}
	return all
}

func (f Facts) switched() Finding {
	if f.OffHere {
		return yellow("switch", "c3po on, or c3po on --all", "a person has switched c3po off here")
	}
	return green("switch", "c3po is on here")
}

func (c Client) finding() Finding {
	check := c.Name
	switch {
	case c.Err != nil:
		return trouble(check, c.Err)
	case !c.Installed:
		return yellow(check, c.Fix, "it is on this host, and c3po is not installed into it")
	case c.Off:
		return yellow(check, "switch the plugin on in "+c.Name, "c3po is installed into it, and switched off there")
	case c.Binary == "":
		return red(check, c.Fix, "its hooks start a program that is not there")
	case len(c.Stale) > 0:
		return yellow(check, c.Fix, "what is installed is not of this version: %s", strings.Join(c.Stale, ", "))
	default:
		return green(check, "c3po is installed into it, current, and starts %s", c.Binary)
	}
}

func (f Facts) sessions() []Finding {
	var all []Finding
	for _, words := range f.Sessions {
		all = append(all, yellow("session", "c3po instances shows it; end it and start it again", "%s", words))
	}
	return all
}
