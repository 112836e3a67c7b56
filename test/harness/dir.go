package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// openDir makes the folder and locks it: two control planes on one etcd folder would wait for each other for minutes.
func (c *ControlPlane) openDir() (err error) {
	if c.Dir == "" {
		c.temporary = true
		c.Dir, err = os.MkdirTemp("", "taskonce-controlplane-")
	} else {
		err = os.MkdirAll(c.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if c.lock, err = os.OpenFile(filepath.Join(c.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(c.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another control plane is using %s: is make dev running?", c.Dir)
	}
	return nil
}

func (c *ControlPlane) closeDir() error {
	var errs []error
	if c.lock != nil {
		errs = append(errs, c.lock.Close())
		c.lock = nil
	}
	if c.temporary {
		errs = append(errs, os.RemoveAll(c.Dir))
	}
	return errors.Join(errs...)
}

// tokenKey returns the path of the key that signs service accounts' tokens, made in the first run of a folder.
func (c *ControlPlane) tokenKey() (string, error) {
	path := filepath.Join(c.Dir, "service-account.key")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// openLog begins a log anew. envtest hands a file on to the program as it is; any other writer would be fed through a
// pipe that breaks with this process.
func (c *ControlPlane) openLog(name string) (*os.File, error) {
	log, err := os.Create(filepath.Join(c.Dir, name))
	if err == nil {
		c.logs = append(c.logs, log)
	}
	return log, err
}

// logTail returns the last lines of both logs, for an error message.
func (c *ControlPlane) logTail() string {
	var tails []string
	for _, log := range c.logs {
		tails = append(tails, tail(log.Name()))
	}
	return strings.Join(tails, "\n")
}

// tail returns the last lines of a file.
func tail(path string) string {
	const lines = 15
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return filepath.Base(path) + " ends with:\n" + strings.Join(all[max(0, len(all)-lines):], "\n")
}
