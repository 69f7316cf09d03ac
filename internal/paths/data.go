package paths

// Data is where files are kept that other programs read from us.
func (f Folders) Data() (string, error) {
	dir, err := f.base("XDG_DATA_HOME", ".local", "share")
	if err != nil {
		return "", err
	}
	return private(dir)
}
