package doctor

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

func (f Facts) switchFinding() Finding {
	if f.OffHere {
		return yellow("switch", "c3po on, or c3po on --all", "a person has switched c3po off here")
	}
	return green("switch", "c3po is on here")
}

// disk is where logs and notes are, and the Redis of c3po up.
func (f Facts) disk() []Finding {
	const check, fix = "disk", "make room on the disk of the state folder (~/.local/state/c3po)"
	switch {
	case f.Disk == nil:
		return nil
	case *f.Disk < minDiskBytes:
		return []Finding{red(check, fix, "%d MiB are free where c3po keeps its files", *f.Disk>>20)}
	case *f.Disk < diskEnough:
		return []Finding{yellow(check, fix, "%d MiB are free where c3po keeps its files", *f.Disk>>20)}
	default:
		return []Finding{green(check, "%d GiB are free where c3po keeps its files", *f.Disk>>30)}
	}
}
