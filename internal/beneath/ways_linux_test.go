package beneath

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ways are the implementations that run on this system. The first needs Linux 5.6.
var ways = func() map[string]func(string) (handle, error) {
	all := map[string]func(string) (handle, error){"openat": openByHand, "device": openByDevice, "root": openRoot}
	if _, err := openat2(unix.AT_FDCWD, "/", dirFlags, 0); !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		all["openat2"] = open
	}
	return all
}()

// openByDevice is a kernel that knows neither openat2 nor mount ids, as the BSDs are.
func openByDevice(path string) (handle, error) {
	h, err := openByHand(path)
	if err != nil {
		return nil, err
	}
	n := h.(*node)
	n.guard.on, err = deviceOf(n.fd)
	return n, err
}
