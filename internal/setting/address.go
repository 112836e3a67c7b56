package setting

import (
	"errors"
	"net"
	"strconv"
)

// Address is where something is served, as :8443 or 127.0.0.1:8443; Off where it is not.
type Address string

// Off is the address of what is turned off.
const Off Address = "0"

// String implements flag.Value.
func (a *Address) String() string { return string(*a) }

// Set takes a port as a number, so that what is wrong is known before anything listens.
func (a *Address) Set(text string) error {
	given := Address(text)
	if _, _, err := given.HostPort(); err != nil && given != Off {
		return err
	}
	*a = given
	return nil
}

// HostPort takes it apart. The host is empty where every address of this machine is meant.
func (a *Address) HostPort() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(string(*a))
	number, wrong := strconv.ParseUint(text, 10, 16)
	if err != nil || wrong != nil {
		return "", 0, errors.New("an address must be as :8443 or 127.0.0.1:8443, and 0 is none")
	}
	return host, int(number), nil
}
