CREATE TABLE IF NOT EXISTS taskonce_ledger (
  idem_key       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  biz_type       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  biz_id         VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  payload_digest VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status         VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  attempt        INT NOT NULL,
  result_json    LONGTEXT CHARACTER SET utf8mb4 NULL,
  created_at     TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at     TIMESTAMP(6) NULL DEFAULT NULL,
  UNIQUE KEY taskonce_ledger_business (biz_type, biz_id)
) ENGINE=InnoDB
