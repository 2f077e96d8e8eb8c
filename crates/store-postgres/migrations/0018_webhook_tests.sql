-- Test messages that wait to be sent. The process that deletes one sends it.
CREATE TABLE webhook_tests (
    message_id TEXT   PRIMARY KEY,
    webhook_id BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE
);
