package install_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
)

// launchIn starts a command as the image's user, in a root of its own that cannot be written to. The channel says how it
// ended.
func launchIn(root string, cmd *exec.Cmd) (<-chan error, error) {
	cmd.Dir, cmd.SysProcAttr = "/", confined(root)
	err := onThread(func() error {
		if mountRefused() == nil {
			if err := readOnly(root); err != nil {
				return err
			}
		}
		return cmd.Start()
	})
	ended := make(chan error, 1)
	if err == nil {
		go func() { ended <- cmd.Wait() }()
	}
	return ended, err
}

// confined is a process of the image's user with a folder as its root, which ends with this one. Where this one is not
// root's, it is so in a user namespace.
func confined(root string) *syscall.SysProcAttr {
	attributes := harness.Attributes()
	attributes.Chroot = root
	attributes.Credential = &syscall.Credential{Uid: nonroot, Gid: nonroot, NoSetGroups: os.Getuid() != 0}
	if os.Getuid() != 0 {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: nonroot, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: nonroot, HostID: os.Getgid(), Size: 1}}
	}
	return attributes
}

// readOnly mounts a folder so that nobody can write to it. Only this thread sees that, and what is started from it.
func readOnly(root string) error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	return errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(root, root, "", syscall.MS_BIND, ""),
		syscall.Mount("", root, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""),
	)
}

// mountRefused is why mounting is not permitted here; nil: it is. Where it is not, files and folders belong to somebody else,
// and their modes alone keep the process from writing.
var mountRefused = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return err
	}
	return errors.Join(onThread(func() error { return readOnly(dir) }), os.RemoveAll(dir))
})

// onThread calls a function on a thread that nothing else runs on afterwards. It never ends, since whatever was started from
// it, before and then, would be killed.
func onThread(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- do()
		select {}
	}()
	return <-done
}

// TestTheRootCannotBeWrittenTo tries, as one who could otherwise, and says which way it is kept from it here.
func TestTheRootCannotBeWrittenTo(t *testing.T) {
	if why := mountRefused(); why != nil {
		t.Logf("mounting is not permitted here (%v), so roots are read-only by their owner and modes alone", why)
		err := filepath.WalkDir(newWorld(t).image.root, func(path string, entry os.DirEntry, err error) error {
			if info, infoErr := entry.Info(); infoErr == nil && info.Mode()&0o022 != 0 {
				t.Errorf("%s can be written to by others: %s", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return
	}
	root := t.TempDir()
	path := filepath.Join(root, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatalf("without the mount: %v", err)
	}
	err := onThread(func() error {
		if err := readOnly(root); err != nil {
			t.Error(err)
		}
		return os.WriteFile(path, nil, 0o600)
	})
	if !errors.Is(err, syscall.EROFS) {
		t.Errorf("writing gave %v; want that the file system is read-only", err)
	}
}

var mountedReadOnly = regexp.MustCompile(`(?m)^\S+ \S+ \S+ \S+ / ro[, ]`)

// rootsAreReadOnly looks at how the roots of a namespace's processes are mounted.
func (w *world) rootsAreReadOnly(namespace string) {
	w.Helper()
	if why := mountRefused(); why != nil {
		w.Logf("mounting is not permitted here (%v): roots are read-only by their owner and modes alone", why)
		return
	}
	for _, s := range w.node.named(namespace) {
		p := s.runs()
		if p == nil {
			continue
		}
		mounts := readFile(w.T, fmt.Sprintf("/proc/%d/mountinfo", p.cmd.Process.Pid))
		if !mountedReadOnly.MatchString(mounts) {
			w.Errorf("the root of %s can be written to: %s", s.pod.Name, mounts)
		}
	}
}
