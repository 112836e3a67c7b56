package sqltx

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// unreachable says why there was no answer, without the address: it is part of a Secret.
func unreachable(err error) string {
	const prefix = "the database cannot be reached: "
	var (
		number  syscall.Errno
		lookup  *net.DNSError
		alert   tls.AlertError
		invalid *tls.CertificateVerificationError
		network net.Error
		wrong   *ledgerError
	)
	switch {
	case errors.As(err, &wrong):
		return "the table taskonce_ledger is not as docs/effects/sql.md has it: " + wrong.Error()
	case errors.Is(err, errElsewhere):
		return err.Error() + ": do not delete rows of keys that are in use"
	case errors.As(err, &number):
		return prefix + number.Error()
	case errors.As(err, &lookup):
		return prefix + "the name of its host has no address"
	case errors.As(err, &invalid):
		return prefix + "its certificate is not trusted"
	case errors.As(err, &alert):
		return prefix + "it ended the TLS handshake"
	case errors.Is(err, context.Canceled):
		return "the attempt was cancelled before it was committed"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "the attempt's time was over before it was committed"
	default:
		return "the connection to the database ended, or it does not speak the dialect's protocol"
	}
}
