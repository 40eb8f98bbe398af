package home

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
)

// AgentEnters says whether one of serve.agents can reach what is in a directory, by
// the owners, groups and modes of it and of those above it. Sure is false where that
// turns on groups that this machine does not tell, as of a number without a name.
func (h *Home) AgentEnters(name, dir string) (enters, sure bool) {
	uids, err := h.AgentUIDs()
	uid, ok := uids[name]
	if err != nil || !ok {
		return false, false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false, false
	}
	groups, sure := groupsOf(uid)
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return false, false
		}
		if !lets(info, uid, groups) {
			return false, sure || info.Mode()&0o010 == 0
		}
		if at == filepath.Dir(at) {
			return true, true
		}
	}
}

func groupsOf(uid int) (groups []string, known bool) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil, false
	}
	groups, err = u.GroupIds()
	return append(groups, u.Gid), err == nil
}

// lets looks at the one of owner, group and others that counts for a user.
func lets(dir fs.FileInfo, uid int, groups []string) bool {
	owner, known := ownerOf(dir)
	bit := fs.FileMode(0o001)
	switch {
	case !known:
		return false
	case owner == uid:
		bit = 0o100
	case slices.Contains(groups, strconv.Itoa(groupOf(dir))):
		bit = 0o010
	}
	return dir.Mode()&bit != 0
}
