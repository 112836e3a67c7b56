CREATE TABLE IF NOT EXISTS taskonce_ledger (
  idem_key       text        PRIMARY KEY,
  biz_type       text        NOT NULL,
  biz_id         text,
  payload_digest text        NOT NULL,
  status         text        NOT NULL,
  attempt        integer     NOT NULL,
  result_json    text,
  created_at     timestamptz NOT NULL DEFAULT now(),
  expires_at     timestamptz,
  UNIQUE (biz_type, biz_id)
)
