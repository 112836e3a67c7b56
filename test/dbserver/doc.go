// Package dbserver starts database servers of its own for tests: PostgreSQL and MariaDB from the programs that
// hack/databases/ensure.sh installs, each in a temporary folder and on a port of 127.0.0.1, and never the system's
// services. A proxy in front of them loses answers.
package dbserver
