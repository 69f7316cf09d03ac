package store

// Memory is what the store's engine uses, and may use.
type Memory struct {
	Used, Max int64 // bytes; Most is 0 if nothing limits it
}

// Percent is how full it is; 0 without a limit.
func (m Memory) Percent() int { return Percent(m.Used, m.Max) }

// Percent is how much of the limit is used; 0 if there is no limit.
func Percent(used, most int64) int {
	if most <= 0 {
		return 0
	}
	return int(used * 100 / most)
}
