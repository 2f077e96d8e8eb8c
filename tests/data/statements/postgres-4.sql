-- What a service of the release with schema version 4 runs. Each statement comes
-- after its values, and finds or changes a row at least, in this order.

--
SELECT nextval('pets_token_series');

-- 'Frank', 7, 'available', 1
INSERT INTO pets (name, category_id, status, token) VALUES ($1, $2, $3, $4) RETURNING id;

-- 1
SELECT id FROM pets WHERE token = $1;

-- 1
SELECT id, name, category_id, status FROM pets WHERE id = $1;

-- 0, 21
SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE id > $1 ORDER BY id LIMIT 101
    ) AS page ORDER BY id LIMIT $2;

-- 0, 21, 'available'
SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE status = $3 AND id > $1 ORDER BY id NULLS FIRST LIMIT 101
    ) AS page ORDER BY id NULLS FIRST LIMIT $2;

-- '\x0000000000000000000000000000000000000000000000000000000000000000', 'me', 'write', 'production', 1, NULL, '600/min'
INSERT INTO api_keys (digest, name, scope, deployment, created_at, expires_at, rate_limit)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id, name, scope, deployment, created_at,
    expires_at, last_used_at, revoked_at, successor_id, rate_limit, last_deprecated_call_at;

-- '\x0000000000000000000000000000000000000000000000000000000000000000'
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys WHERE digest = $1;

-- 1
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys WHERE id = $1;

--
SELECT id, name, scope, deployment, created_at, expires_at, last_used_at, revoked_at, successor_id,
    rate_limit, last_deprecated_call_at FROM api_keys ORDER BY id;

-- 1
SELECT successor_id FROM api_keys WHERE id = $1 FOR UPDATE;

-- 1, 2, 1
UPDATE api_keys SET expires_at = least(coalesce(expires_at, $2), $2), successor_id = $3 WHERE id = $1;

-- '{1}', '{2}', '{2}'
UPDATE api_keys
    SET last_used_at = greatest(last_used_at, used.at),
        last_deprecated_call_at = greatest(last_deprecated_call_at, used.deprecated_call_at)
    FROM (SELECT id, max(at) AS at, max(deprecated_call_at) AS deprecated_call_at
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS use (id, at, deprecated_call_at)
          GROUP BY id) AS used
    WHERE api_keys.id = used.id
        AND (last_used_at IS NULL OR last_used_at < used.at
            OR coalesce(last_deprecated_call_at < used.deprecated_call_at,
                        used.deprecated_call_at IS NOT NULL));

-- 1, 2
UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING id, name, scope,
    deployment, created_at, expires_at, last_used_at, revoked_at, successor_id, rate_limit,
    last_deprecated_call_at;

-- 'Zoe', 7, 'sold', 1, 'k', '\x0000000000000000000000000000000000000000000000000000000000000000', 1, 1, 0
WITH claimed AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT $4, $5, $6, nextval('pets_ids'), $7 WHERE NOT EXISTS (
            SELECT 1 FROM idempotency_keys
            WHERE api_key_id IN ($4, $8) AND key = $5 AND pet_id <> $9)
        ON CONFLICT (api_key_id, key) DO UPDATE SET
            fingerprint = excluded.fingerprint,
            pet_id = excluded.pet_id,
            created_at = excluded.created_at
            WHERE idempotency_keys.pet_id = $9
        RETURNING pet_id
    ), noted AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT $8, $5, $6, pet_id, $7 FROM claimed WHERE $8 <> $4
        ON CONFLICT (api_key_id, key) DO UPDATE SET
            fingerprint = excluded.fingerprint,
            pet_id = excluded.pet_id,
            created_at = excluded.created_at)
    INSERT INTO pets (id, name, category_id, status)
    SELECT pet_id, $1, $2, $3 FROM claimed RETURNING id;

-- 1, 'k', 1
SELECT pets.id, name, category_id, status, fingerprint, pet_id
    FROM idempotency_keys LEFT JOIN pets ON pets.id = pet_id
    WHERE api_key_id IN ($1, $3) AND key = $2
    ORDER BY pets.id IS NULL, api_key_id <> $1 LIMIT 1;

-- 0
INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT $1::bigint + 1, coalesce(max(pet_id), 0) FROM idempotency_keys
    HAVING $1 = (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    ON CONFLICT DO NOTHING;

--
SELECT coalesce(max(number), 0) FROM idempotency_marks;

-- 0, 10
DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - $1)
     ORDER BY pet_id LIMIT $2);

-- 2
DELETE FROM idempotency_marks WHERE number < $1;

--
SELECT digest FROM api_keys;

--
SELECT key FROM etag_key;

--
SELECT version FROM petstore_schema FOR KEY SHARE;
