package harness

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Ports lie below those that systems give to outgoing connections, so that nobody takes one before it is listened on.
const lowestPort, portsInAll = 20000, 10000

// taken are the ports that this process was given: none is given twice, also where nothing ever listens on it.
var taken = struct {
	sync.Mutex
	ports map[int]bool
	locks *os.File // its n-th byte is locked by the process that was given port n, until that ends
}{ports: map[int]bool{}}

// UnusedAddress returns an address on which nothing listens, and which nobody else is given while this process lives.
func UnusedAddress() (string, error) {
	taken.Lock()
	defer taken.Unlock()
	for range 100 {
		port := lowestPort + rand.IntN(portsInAll)
		free, err := take(port)
		if err != nil {
			return "", err
		}
		if !free {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", fmt.Errorf("no free port was found between %d and %d", lowestPort, lowestPort+portsInAll)
}

// take reports whether a port is this caller's now. The lock goes with the process, however that ends, and is not inherited.
func take(port int) (bool, error) {
	if taken.ports[port] {
		return false, nil
	}
	if taken.locks == nil {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("taskonce-ports-%d", os.Getuid()))
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return false, err
		}
		taken.locks = file
	}
	taken.ports[port] = true // by this process or by another one
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1}
	return syscall.FcntlFlock(taken.locks.Fd(), syscall.F_SETLK, &lock) == nil, nil
}

// Answers says whether anything but an error of the server comes back.
func Answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}
