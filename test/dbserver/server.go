package dbserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

const (
	// User is the superuser of every server.
	User = "taskonce"
	// Password is what it logs in with.
	Password = "correct-horse-battery"
	// startTimeout is how long a server may take, with a crash to recover from, on a busy machine.
	startTimeout = 90 * time.Second
)

// Server is a database server in a folder of its own.
type Server struct {
	Dialect v1alpha1.SQLDialect
	Port    int

	dir     string
	owner   *syscall.Credential
	program *exec.Cmd
	ended   chan struct{}
}

// Start makes a new server and returns when it answers. Stop removes it. What is missing is an error: nothing is
// skipped for it.
func Start(ctx context.Context, dialect v1alpha1.SQLDialect) (*Server, error) {
	dir, err := os.MkdirTemp("", "taskonce-database-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dialect: dialect, dir: dir}
	if s.Port, err = freePort(); err == nil {
		err = s.disown()
	}
	if err == nil {
		err = s.initialize(ctx)
	}
	if err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// disown gives the folder to nobody where this is root: neither server runs as root.
func (s *Server) disown() error {
	if os.Geteuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(nobody.Gid)
	if err != nil {
		return err
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, uid, gid)
}

// command is a program that runs as the folder's owner.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "HOME=" + s.dir, "TZ=UTC"}
	cmd.SysProcAttr = harness.Attributes()
	cmd.SysProcAttr.Credential = s.owner
	return cmd
}

func (s *Server) initialize(ctx context.Context) error {
	var cmd *exec.Cmd
	if s.Dialect == v1alpha1.PostgreSQL {
		initdb, err := postgresProgram("initdb")
		if err != nil {
			return err
		}
		password := filepath.Join(s.dir, "password")
		if err := os.WriteFile(password, []byte(Password), 0o644); err != nil {
			return err
		}
		cmd = s.command(ctx, initdb, "--no-sync", "-D", s.data(), "-U", User, "--pwfile="+password, "--auth=scram-sha-256", "--locale=C", "--encoding=UTF8")
	} else {
		install, err := find("mariadb-install-db", "/usr/bin/mariadb-install-db")
		if err != nil {
			return err
		}
		cmd = s.command(ctx, install, "--no-defaults", "--datadir="+s.data(), "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=10M")
		if err := os.WriteFile(s.grants(), []byte(fmt.Sprintf("CREATE USER IF NOT EXISTS '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[2]s';\nGRANT ALL ON *.* TO '%[1]s'@'127.0.0.1' WITH GRANT OPTION;\n", User, Password)), 0o644); err != nil {
			return err
		}
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making a %s server: %w: %s", s.Dialect, err, output)
	}
	return nil
}

func (s *Server) data() string   { return filepath.Join(s.dir, "data") }
func (s *Server) grants() string { return filepath.Join(s.dir, "grants.sql") }

// Restart starts the server, which must not run, on the same port and data, and returns when it answers. Commits reach
// the operating system, which survives a SIGKILL, and not the disk, which is for power cuts.
func (s *Server) Restart(ctx context.Context) error {
	cmd, err := s.serverCommand()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s.program, s.ended = cmd, ended
	return s.await(ctx)
}

func (s *Server) serverCommand() (*exec.Cmd, error) {
	port := strconv.Itoa(s.Port)
	if s.Dialect == v1alpha1.PostgreSQL {
		postgres, err := postgresProgram("postgres")
		if err != nil {
			return nil, err
		}
		return s.command(context.Background(), postgres, "-D", s.data(), "-k", s.dir, "-h", "127.0.0.1", "-p", port,
			"-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=16MB", "-c", "deadlock_timeout=50ms"), nil
	}
	mariadbd, err := find("mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return nil, err
	}
	return s.command(context.Background(), mariadbd, "--no-defaults", "--datadir="+s.data(), "--socket="+filepath.Join(s.dir, "socket"),
		"--pid-file="+filepath.Join(s.dir, "pid"), "--bind-address=127.0.0.1", "--port="+port, "--init-file="+s.grants(), "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=2", "--innodb-log-file-size=10M", "--innodb-buffer-pool-size=32M", "--max-connections=60"), nil
}

// await returns when the server accepts a login.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.Exec(ctx, "", "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the %s server ended: %s", s.Dialect, s.logTail())
		case <-ctx.Done():
			return fmt.Errorf("the %s server does not answer: %w: %s", s.Dialect, err, s.logTail())
		case <-tick.C:
		}
	}
}

// Kill ends the server and all its processes with SIGKILL, and returns when they are gone.
func (s *Server) Kill() {
	pid := s.program.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no more children, and notices nothing
	awaitState(pid, stopped)
	family := children(pid)
	for _, child := range family {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	<-s.ended
	for _, child := range family {
		awaitState(child, dead) // they hold the memory that the next server wants to have alone
	}
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	s.Kill()
	return os.RemoveAll(s.dir)
}

func (s *Server) logTail() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// postgresProgram finds a program of the newest PostgreSQL that is installed; Debian keeps them out of the PATH.
func postgresProgram(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return find(name)
	}
	return found[len(found)-1], nil
}

func find(name string, places ...string) (string, error) {
	for _, place := range places {
		if _, err := os.Stat(place); err == nil {
			return place, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not on this machine: run hack/databases/ensure.sh", name)
	}
	return path, nil
}

// freePort returns one that nobody takes while the server is down.
func freePort() (int, error) {
	address, err := harness.UnusedAddress()
	if err != nil {
		return 0, err
	}
	unused, err := netip.ParseAddrPort(address)
	return int(unused.Port()), err
}
