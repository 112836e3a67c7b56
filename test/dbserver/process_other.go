//go:build !linux

package dbserver

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

const (
	stopped = ""
	dead    = ""
)

func awaitState(int, string) {}

// children: a server that finds its parent gone ends by itself.
func children(int) []int { return nil }
