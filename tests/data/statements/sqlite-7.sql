-- What a service of the release with schema version 7 runs. Each statement comes
-- after its values, and finds or changes a row at least, in this order.

-- 'Frank', 7, 'available'
INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3);

-- 'Zoe', 7, 'pending'
INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3);

-- 'Kitty', 7, 'sold'
INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3);

-- 1
SELECT name, category_id, status FROM pets WHERE id = ?1;

-- 0
SELECT 1 FROM pets NOT INDEXED
    WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1;

-- 0
SELECT 1 FROM pets INDEXED BY pets_available WHERE status = 'available'
    AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1;

-- 0
SELECT 1 FROM pets INDEXED BY pets_pending WHERE status = 'pending'
    AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1;

-- 0
SELECT 1 FROM pets INDEXED BY pets_sold WHERE status = 'sold'
    AND id > ?1 AND NOT goes_on_page(id, name, category_id) ORDER BY id LIMIT 1;

-- zeroblob(32), 'me', 'write', 'production', 1, NULL, '600/min'
INSERT INTO api_keys (digest, name, scope, deployment, created_at, expires_at, rate_limit)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id, name, scope, deployment, created_at,
    expires_at, last_used_at, revoked_at, successor_id, rate_limit, last_deprecated_call_at;

-- zeroblob(32)
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys WHERE digest = ?1;

-- 1
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys WHERE id = ?1;

--
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys ORDER BY id;

-- 1, 2, 1
UPDATE api_keys SET expires_at = min(coalesce(expires_at, ?2), ?2), successor_id = ?3 WHERE id = ?1;

-- 1, 2, 2
UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, ?2), ?2),
        last_deprecated_call_at = max(
            coalesce(last_deprecated_call_at, ?3), coalesce(?3, last_deprecated_call_at))
    WHERE id = ?1;

-- 1, 2
UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 RETURNING id, name, scope,
    deployment, created_at, expires_at, last_used_at, revoked_at, successor_id, rate_limit,
    last_deprecated_call_at;

-- 1, 'k', zeroblob(32), 1, 1
INSERT OR REPLACE INTO idempotency_keys
    (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5);

-- 1, 'k'
SELECT fingerprint, pet_id FROM idempotency_keys
    WHERE api_key_id = ?1 AND key = ?2;

-- 0
INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT ?1 + 1, coalesce(max(pet_id), 0) FROM idempotency_keys;

--
SELECT coalesce(max(number), 0) FROM idempotency_marks;

-- 0, 10
DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - ?1)
     ORDER BY pet_id LIMIT ?2);

-- 2
DELETE FROM idempotency_marks WHERE number < ?1;

--
SELECT digest FROM api_keys;

--
SELECT key FROM etag_key;
