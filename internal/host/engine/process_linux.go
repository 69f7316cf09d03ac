package engine

// Started is when a process started, as this machine counts; 0 if there is no
// such process or it has ended. With it a process number names one process and
// not the next one that gets the number.
func Started(pid int) int64 {
	if found, seen := look(pid); seen == plain && !found.ended {
		return found.start
	}
	return 0
}
