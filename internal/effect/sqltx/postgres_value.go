package sqltx

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

func postgresRow(fields []pgconn.FieldDescription, values [][]byte) []json.RawMessage {
	cells := make([]json.RawMessage, len(values))
	for i, value := range values {
		cells[i] = postgresValue(fields[i].DataTypeOID, value)
	}
	return cells
}

// postgresValue makes JSON of a value in the server's text format. A numeric is text, since JSON's readers round; so
// is every type that JSON has no word for.
func postgresValue(oid uint32, value []byte) json.RawMessage {
	if value == nil {
		return null
	}
	switch oid {
	case pgtype.BoolOID:
		return asJSON(string(value) == "t")
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.Float4OID, pgtype.Float8OID, pgtype.JSONOID, pgtype.JSONBOID:
		return verbatim(value)
	case pgtype.ByteaOID:
		if raw, err := hex.DecodeString(strings.TrimPrefix(string(value), `\x`)); err == nil {
			return bytesOf(raw)
		}
		return text(value)
	case pgtype.TimestampOID:
		return clock(value, spaced, zoneless)
	case pgtype.TimestamptzOID:
		return clock(value, spaced+"Z07", time.RFC3339Nano)
	default:
		return text(value)
	}
}
