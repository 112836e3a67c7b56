package setting

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
)

// CheckCertificate says what is wrong with the tls.crt and tls.key of a folder that a flag names; empty: none.
func CheckCertificate(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")); err != nil {
		return fmt.Errorf("--%s must name a folder with a tls.crt and the tls.key to it: %w", flag, err)
	}
	return nil
}
