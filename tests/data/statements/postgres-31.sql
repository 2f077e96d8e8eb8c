-- What a service of 0.3.0, with schema version 31, runs: one statement of each kind, after its values.
-- Each finds or changes a row at least, in this order.

-- 'Species', NULL, 'species'
UPDATE fields SET label = $1, choice_labels = $2 WHERE name = $3;

-- '31'
UPDATE petstore_schema SET version = $1;

--
SELECT version FROM petstore_schema;

--
SELECT key FROM etag_key;

--
SELECT coalesce(max(number), 0) FROM idempotency_marks;

--
SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= -62167219200000) FROM orders WHERE status = 'reserved';

--
SELECT concat_ws(' ', system_identifier, oid, 'etag_key'::regclass::oid) FROM pg_control_system(), pg_database WHERE
    datname = current_database();

--
SELECT epoch, last, coalesce((SELECT min(seq) FROM change_numbers), last + 1), EXISTS (SELECT FROM (SELECT row.* FROM
    change_log CROSS JOIN unnest(open_from, open_to) AS open (low, high) CROSS JOIN LATERAL (SELECT * FROM changes
    WHERE id BETWEEN low AND high ORDER BY id LIMIT 1) AS row) AS changes) FROM change_log;

-- '34f23ab83f0de9c82ca935a269cb9682'
INSERT INTO requests (caller, key, operation, fingerprint, status, body, created_at, mark) SELECT 0, $1,
    'administration', decode(repeat('00', 32), 'hex'), 0, '', floor(extract(epoch FROM now()))::bigint,
    coalesce(max(number), 0) FROM idempotency_marks ON CONFLICT (caller, key) DO NOTHING;

-- '\x8df7c3f7747a53003d1c0bca694b88dbd2f481d8be94e7cafe5c7e3d8a868099', 'a', 'write', 'store:admin', 'production', '3786912000', NULL, NULL
INSERT INTO api_keys (digest, name, scope, store_scope, deployment, created_at, expires_at, rate_limit) VALUES ($1,
    $2, $3, $4, $5, $6, $7, $8) RETURNING id;

-- '3786912000066', 'key.created', '1', 'command', NULL, NULL, NULL, '{"name":"a","scope":"store:admin"}'
INSERT INTO acts (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details) SELECT last, $1, $2,
    $3, $4, $5, $6, $7, $8 FROM change_log;

-- '34f23ab83f0de9c82ca935a269cb9682', '1'
UPDATE requests SET location = $2 WHERE caller = 0 AND key = $1;

-- '1'
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys WHERE id = $1;

--
SELECT digest FROM api_keys;

--
SELECT nextval('pets_token_series');

-- '4294967296', 'Frank', '7', 'available', '3786912001402', 'key', '2', 'w', '8bce6f3eecf15348a1a7aa4937dd3257', ',"name":"Frank","categoryId":7,"status":"available","version":1,"createdAt":"2090-01-01T00:00:01.402Z","updatedAt":"2090-01-01T00:00:01.402Z","orderId":null,"withdrawn":null,"fields":{},"photos":[]}'
WITH added AS ( INSERT INTO pets (token, name, category_id, status, created_at, updated_at) VALUES ($1, $2, $3, $4,
    $5, $5) RETURNING token, id ), logged AS ( INSERT INTO changes (at, type, subject_id, version, pet_id, actor,
    actor_id, actor_name, request_id, after) SELECT $5, 'pet.added', id, 1, id, $6, $7, $8, $9, '{"id":' || id ||
    $10::text FROM added ) SELECT token, id FROM added;

-- '2'
WITH RECURSIVE lineage (id) AS ( SELECT CAST($1 AS bigint) UNION SELECT api_keys.id FROM lineage JOIN api_keys ON
    successor_id = lineage.id) SELECT id FROM lineage WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE successor_id =
    lineage.id);

-- '2', 'k1', '2'
SELECT known.*, CASE WHEN operation IS NULL THEN nextval('pets_ids') END FROM (SELECT 1) AS one LEFT JOIN (SELECT
    operation, fingerprint, status, location, etag, body FROM requests WHERE caller IN ($1, $3) AND key = $2 ORDER BY
    caller <> $1 LIMIT 1) AS known ON TRUE;

-- '2', 'k1', 'createPet', '\x94df2fcf76e0d959d082f30d97c4f3ebd4e9ce7f63c16a8a3a926e9d126f7090', '201', '/pets/4', NULL, '\x7b226964223a342c226e616d65223a22426f222c2263617465676f72794964223a372c22737461747573223a22617661696c61626c65227d', '3786912001', '{2}', '4', 'Bo', '7', 'available', '3786912001422', 'key', '2', 'w', '445cda1ed825963e113d6611adb89066', '{"id":4,"name":"Bo","categoryId":7,"status":"available","version":1,"createdAt":"2090-01-01T00:00:01.422Z","updatedAt":"2090-01-01T00:00:01.422Z","orderId":null,"withdrawn":null,"fields":{},"photos":[]}'
WITH claimed AS ( INSERT INTO requests (caller, key, operation, fingerprint, status, location, etag, body, created_at,
    mark) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce(max(number), 0) FROM idempotency_marks ON CONFLICT
    (caller, key) DO NOTHING RETURNING caller ), as_before AS ( INSERT INTO idempotency_keys (api_key_id, key,
    fingerprint, pet_id, created_at) SELECT unnest($10::bigint[]), $2, $4, $11, $9 FROM claimed ), logged AS ( INSERT
    INTO changes (at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, after) SELECT $15,
    'pet.added', $11, 1, $11, $16, $17, $18, $19, $20 FROM claimed) INSERT INTO pets (id, name, category_id, status,
    created_at, updated_at) SELECT $11, $12, $13, $14, $15, $15 FROM claimed;

--
SELECT 1 FROM petstore_schema FOR KEY SHARE;

-- '0', '21'
SELECT * FROM ( SELECT id, name, category_id, status FROM pets WHERE id > $1 ORDER BY id LIMIT 101 ) AS page ORDER BY
    id LIMIT $2;

-- '0', '21', 'available'
SELECT * FROM ( SELECT id, name, category_id, status FROM pets WHERE status = $3 AND id > $1 ORDER BY id NULLS FIRST
    LIMIT 101 ) AS page ORDER BY id NULLS FIRST LIMIT $2;

-- '\x8df7c3f7747a53003d1c0bca694b88dbd2f481d8be94e7cafe5c7e3d8a868099'
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys WHERE digest = $1;

-- '{NULL}', '{NULL}', '{NULL}', '{t}', '{f}', '{1}', '{p1}', '{1}'
SELECT own.*, pet.*, holder.*, category.*, CASE WHEN new_pet AND NOT EXISTS (SELECT FROM requests WHERE
    requests.caller IN (subject.lineage, subject.caller) AND requests.key = subject.key) THEN nextval('pets_ids') END,
    CASE WHEN new_order AND NOT EXISTS (SELECT FROM requests WHERE requests.caller IN (subject.lineage,
    subject.caller) AND requests.key = subject.key) THEN nextval('orders_ids') END, EXISTS (SELECT FROM
    idempotency_keys WHERE idempotency_keys.pet_id = pet.id) FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],
    $4::boolean[], $5::boolean[], $6::bigint[], $7::text[], $8::bigint[]) WITH ORDINALITY AS subject (pet_id,
    order_id, category_id, new_pet, new_order, lineage, key, caller, number) LEFT JOIN (SELECT id, pet_id, status,
    holds, reference, note, reason, expires_at, created_at, closed_at, version, price, (SELECT contact FROM
    order_contacts WHERE order_id = orders.id) AS contact FROM orders) AS own ON own.id = subject.order_id LEFT JOIN
    LATERAL ( SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS
    bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note FROM pets WHERE id =
    coalesce(own.pet_id, subject.pet_id) UNION ALL SELECT id, name, category_id, status, version, created_at,
    updated_at, fields, photos, withdrawn_at, reason, note FROM withdrawn_pets WHERE id = coalesce(own.pet_id,
    subject.pet_id) ) AS pet ON TRUE LEFT JOIN (SELECT id, pet_id, status, holds, reference, note, reason, expires_at,
    created_at, closed_at, version, price, (SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact
    FROM orders) AS holder ON holder.pet_id = pet.id AND holder.holds LEFT JOIN (SELECT id, label, version FROM
    categories) AS category ON category.id = subject.category_id ORDER BY number;

-- '{1}'
SELECT 1 / (count(*) = cardinality($1))::integer FROM ( SELECT FROM field_state WHERE version = ANY ($1::bigint[]) FOR
    SHARE) AS found;

-- '{microchip}', '{276098106123456}', '{5}'
INSERT INTO unique_values (field, key, pet_id) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]);

-- '{5}', '{Lola}', '{3}', '{available}', '{1}', '{3786912001506}', '{3786912001506}', '{"{\"born\":\"2089-05-01\",\"breed\":\"Siamese mix\",\"microchip\":\"276098106123456\",\"price\":\"120.50\",\"sex\":\"Female\",\"species\":\"Cat\"}"}', '{NULL}', '{NULL}'
INSERT INTO pets (id, name, category_id, status, version, created_at, updated_at, fields, photos) SELECT new.id,
    new.name, new.category_id, new.status, new.version, new.created_at, new.updated_at, new.fields, new.photos FROM
    unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
    $9::text[], $10::bigint[]) AS new (id, name, category_id, status, version, created_at, updated_at, fields, photos,
    version_read);

-- '{1}', '{p1}', '{addStorePet}', '{"\\x11692f4456a8d4a63120d422f1f413666b2c72a997e74bfff70e08f98a9617ab"}', '{201}', '{/store/pets/5}', '{"\"1\""}', '{"\\x7b226964223a352c226e616d65223a224c6f6c61222c2263617465676f72794964223a332c22737461747573223a22617661696c61626c65222c2276657273696f6e223a312c22637265617465644174223a22323039302d30312d30315430303a30303a30312e3530365a222c22757064617465644174223a22323039302d30312d30315430303a30303a30312e3530365a222c226f726465724964223a6e756c6c2c2277697468647261776e223a6e756c6c2c226669656c6473223a7b22626f726e223a22323038392d30352d3031222c226272656564223a225369616d657365206d6978222c226d6963726f63686970223a22323736303938313036313233343536222c227072696365223a223132302e3530222c22736578223a2246656d616c65222c2273706563696573223a22436174227d2c2270686f746f73223a5b5d7d"}', '{3786912001}'
INSERT INTO requests (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark) SELECT
    new.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks) FROM unnest($1::bigint[], $2::text[], $3::text[],
    $4::bytea[], $5::bigint[], $6::text[], $7::text[], $8::bytea[], $9::bigint[]) AS new;

-- '{3786912001506}', '{key}', '{1}', '{a}', '{c13532936bc9eaf180023151b4e5a463}', '{pet.added}', '{5}', '{1}', '{5}', '{NULL}', '{"{\"id\":5,\"name\":\"Lola\",\"categoryId\":3,\"status\":\"available\",\"version\":1,\"createdAt\":\"2090-01-01T00:00:01.506Z\",\"updatedAt\":\"2090-01-01T00:00:01.506Z\",\"orderId\":null,\"withdrawn\":null,\"fields\":{\"born\":\"2089-05-01\",\"breed\":\"Siamese mix\",\"microchip\":\"276098106123456\",\"price\":\"120.50\",\"sex\":\"Female\",\"species\":\"Cat\"},\"photos\":[]}"}'
INSERT INTO changes (at, actor, actor_id, actor_name, request_id, type, subject_id, version, pet_id, before, after)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::text[], $11::text[]);

-- '0', '21'
SELECT page.*, CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders WHERE pet_id = page.id AND holds AND
    orders.status = 'reserved') END FROM ((SELECT id, name, category_id, status, version, created_at, updated_at,
    fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note
    FROM pets WHERE id > $1 ORDER BY id ASC LIMIT 101)) AS page ORDER BY id ASC LIMIT $2;

-- '0', '21', 'available'
SELECT page.*, CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders WHERE pet_id = page.id AND holds AND
    orders.status = 'reserved') END FROM ((SELECT id, name, category_id, status, version, created_at, updated_at,
    fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note
    FROM pets WHERE id > $1 AND status = $3 ORDER BY id ASC NULLS FIRST LIMIT 101)) AS page ORDER BY id ASC NULLS
    FIRST LIMIT $2;

-- '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5', '5'
SELECT page.*, CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders WHERE pet_id = page.id AND holds AND
    orders.status = 'reserved') END FROM (SELECT id, name, category_id, status, version, created_at, updated_at,
    fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note
    FROM pets WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
    $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43,
    $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63, $64, $65, $66,
    $67, $68, $69, $70, $71, $72, $73, $74, $75, $76, $77, $78, $79, $80, $81, $82, $83, $84, $85, $86, $87, $88, $89,
    $90, $91, $92, $93, $94, $95, $96, $97, $98, $99, $100)) AS page;

-- '5'
SELECT pet.*, (SELECT id FROM orders WHERE pet_id = pet.id AND holds AND orders.status = 'reserved') FROM (SELECT id,
    name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS withdrawn_at,
    CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note FROM pets WHERE id = $1 UNION ALL SELECT id, name,
    category_id, status, version, created_at, updated_at, fields, photos, withdrawn_at, reason, note FROM
    withdrawn_pets WHERE id = $1) AS pet;

-- '{5}', '{"Lola II"}', '{3}', '{available}', '{2}', '{3786912001506}', '{3786912003101}', '{"{\"born\":\"2089-05-01\",\"breed\":\"Siamese\",\"microchip\":\"276098106123456\",\"price\":\"120.50\",\"sex\":\"Female\",\"species\":\"Cat\"}"}', '{NULL}', '{1}'
WITH written AS (UPDATE pets SET name = new.name, category_id = new.category_id, status = new.status, version =
    new.version, created_at = new.created_at, updated_at = new.updated_at, fields = new.fields, photos = new.photos
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::text[], $9::text[], $10::bigint[]) AS new (id, name, category_id, status, version, created_at, updated_at,
    fields, photos, version_read) WHERE pets.id = new.id AND pets.version = version_read RETURNING 1) SELECT 1 /
    (count(*) = cardinality($1))::integer FROM written;

-- '{5}', '{1c7d3992b38fe32a6d9fd97f9d7067d8}'
INSERT INTO photos (pet_id, id) SELECT * FROM unnest($1::bigint[], $2::text[]);

-- '{5}', '{1c7d3992b38fe32a6d9fd97f9d7067d8}'
DELETE FROM photos USING unnest($1::bigint[], $2::text[]) AS old (pet_id, id) WHERE photos.pet_id = old.pet_id AND
    photos.id = old.id;

-- '{1}', '{5}', '{reserved}', '{t}', '{R-1}', '{NULL}', '{NULL}', '{3788121603273}', '{3786912003273}', '{NULL}', '{1}', '{100}', '{NULL}', '{NULL}'
INSERT INTO orders (id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version,
    price) SELECT new.id, new.pet_id, new.status, new.holds, new.reference, new.note, new.reason, new.expires_at,
    new.created_at, new.closed_at, new.version, new.price FROM unnest($1::bigint[], $2::bigint[], $3::text[],
    $4::boolean[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
    $12::text[], $13::bigint[], $14::boolean[]) AS new (id, pet_id, status, holds, reference, note, reason,
    expires_at, created_at, closed_at, version, price, version_read, held);

-- '{1}', '{"Ana 123"}'
INSERT INTO order_contacts (order_id, contact) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT (order_id)
    DO UPDATE SET contact = excluded.contact;

-- '1'
SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version, price, (SELECT
    contact FROM order_contacts WHERE order_id = orders.id) AS contact FROM orders WHERE id = $1;

-- '{1}', '{5}', '{reserved}', '{t}', '{R-1}', '{call}', '{NULL}', '{3788121603273}', '{3786912003273}', '{NULL}', '{2}', '{100}', '{1}', '{t}'
WITH written AS (UPDATE orders SET pet_id = new.pet_id, status = new.status, holds = new.holds, reference =
    new.reference, note = new.note, reason = new.reason, expires_at = new.expires_at, created_at = new.created_at,
    closed_at = new.closed_at, version = new.version, price = new.price FROM unnest($1::bigint[], $2::bigint[],
    $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::bigint[], $12::text[], $13::bigint[], $14::boolean[]) AS new (id, pet_id, status, holds, reference, note,
    reason, expires_at, created_at, closed_at, version, price, version_read, held) WHERE orders.id = new.id AND
    orders.version = version_read AND orders.holds = held RETURNING 1) SELECT 1 / (count(*) =
    cardinality($1))::integer FROM written;

-- '0', '21'
SELECT * FROM (SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version,
    price, (SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact FROM orders WHERE id > $1 ORDER
    BY id LIMIT 101) AS page ORDER BY id LIMIT $2;

-- '0', '21', 'reserved'
SELECT * FROM (SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version,
    price, (SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact FROM orders WHERE id > $1 AND
    status = $3 ORDER BY id NULLS FIRST LIMIT 101) AS page ORDER BY id NULLS FIRST LIMIT $2;

-- '0', '21', 'R-1', NULL
SELECT * FROM (SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version,
    price, (SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact FROM orders WHERE id > $1 AND
    reference = $3 AND (CAST($4 AS text) IS NULL OR status = $4) ORDER BY id LIMIT 101) AS page ORDER BY id LIMIT $2;

-- '{microchip}', '{276098106123456}', '{5}'
WITH gone AS ( DELETE FROM unique_values USING unnest($1::text[], $2::text[], $3::bigint[]) AS old (field, key,
    pet_id) WHERE unique_values.field = old.field AND unique_values.key = old.key AND unique_values.pet_id =
    old.pet_id RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::integer FROM gone;

--
SELECT status, count(*) FROM pets GROUP BY status UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets;

-- '{3}', '{Cats}', '{1}', '{NULL}'
INSERT INTO categories (id, label, version) SELECT new.id, new.label, new.version FROM unnest($1::bigint[],
    $2::text[], $3::bigint[], $4::bigint[]) AS new (id, label, version, version_read);

-- '-9223372036854775808', '21'
SELECT id, label, version FROM categories WHERE id >= $1 ORDER BY id LIMIT $2;

-- '{3}', '{"Cats 2"}', '{2}', '{1}'
WITH written AS (UPDATE categories SET label = new.label, version = new.version FROM unnest($1::bigint[], $2::text[],
    $3::bigint[], $4::bigint[]) AS new (id, label, version, version_read) WHERE categories.id = new.id AND
    categories.version = version_read RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::integer FROM written;

-- '1'
UPDATE field_state SET version = version + 1 WHERE version = $1;

-- 'temper', 'Temper', 'choice', '["Calm","Shy"]', '0', '0', '0', '1', NULL
INSERT INTO fields (name, label, kind, choices, is_public, is_unique, position, version, choice_labels) VALUES ($1,
    $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (name) DO UPDATE SET label = excluded.label, kind = excluded.kind,
    choices = excluded.choices, is_public = excluded.is_public, is_unique = excluded.is_unique, position =
    excluded.position, version = excluded.version, choice_labels = excluded.choice_labels;

-- '"temper":'
SELECT EXISTS (SELECT FROM pets WHERE strpos(fields, $1) > 0) OR EXISTS (SELECT FROM withdrawn_pets WHERE
    strpos(fields, $1) > 0);

-- '1', '6'
SELECT id, status, FALSE, category_id, fields, name FROM pets WHERE id >= $1 AND id <= $2 UNION ALL SELECT id, status,
    TRUE, category_id, fields, name FROM withdrawn_pets WHERE id >= $1 AND id <= $2;

-- 'temper'
DELETE FROM fields WHERE name = $1;

--
SELECT members, version, logo FROM profile;

-- '{"name":"Shop","language":null,"currency":"EUR","email":null,"telephone":null,"contactPage":null,"address":null,"hours":null,"about":null,"links":[],"colour":null,"kind":null}', '2', '1', NULL
UPDATE profile SET members = $1, version = $2, logo = $4 WHERE version = $3;

-- 'b5bbe8ee06be213f020020', '\x89504e470d0a1a0a0000000d4948445200000020000000200802000000fc18eda30000002c4944415478daedcda10d00300800304266b058feff734f806b1fe88beab994714c2010080402814020106cf906120a2d5346ae7d0000000049454e44ae426082'
INSERT INTO logos (name, png) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET replaced_at = NULL;

-- '3786912003445', NULL
UPDATE logos SET replaced_at = $1 WHERE replaced_at IS NULL AND name <> coalesce($2, '');

--
SELECT nextval('webhook_ids');

--
SELECT count(*) FROM webhooks;

-- '1', 'http://127.0.0.1:9/x', NULL, NULL, NULL, '3786912003452', '3786912003452', '1', '\x014f8ba9c5bd088c06ec72602212eb1b381f936c28fa2206b52d88cd62a84642e26084d396f7ed02eed40b9ff2645a85b4ed8acbe521bc62d0f5f9dbc4', NULL, NULL, '40', NULL
INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at, updated_at, version, secret,
    previous_secret, previous_secret_until, cursor, last_message, lease_holder, lease_beat) VALUES ($1, $2, $3, $4,
    $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0);

--
SELECT id, url, types, description, disabled_reason, created_at, updated_at, version, secret, previous_secret,
    previous_secret_until, cursor, last_message, failing_since, lease_holder, lease_beat FROM webhooks ORDER BY id;

-- '1', 'http://127.0.0.1:9/x', NULL, 'x', NULL, '3786912003467', '2', '\x014f8ba9c5bd088c06ec72602212eb1b381f936c28fa2206b52d88cd62a84642e26084d396f7ed02eed40b9ff2645a85b4ed8acbe521bc62d0f5f9dbc4', NULL, NULL
UPDATE webhooks SET url = $2, types = $3, description = $4, disabled_reason = $5, updated_at = $6, version = $7,
    secret = $8, previous_secret = $9, previous_secret_until = $10, lease_holder = 0, lease_beat = lease_beat + 1
    WHERE id = $1 AND version = CAST($7 AS bigint) - 1;

-- '1'
UPDATE webhooks SET version = version WHERE id = $1;

--
SELECT coalesce((SELECT min(seq) FROM change_numbers), last + 1), last FROM change_log;

-- '-1', '9223372036854775807', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '0', '21'
SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id FROM acts WHERE seq >= $1 AND
    seq <= $2 AND type = coalesce($3, type) AND type LIKE coalesce($4, '%') AND coalesce(subject_id = $5, $5 IS NULL)
    AND actor = coalesce($6, actor) AND coalesce(actor_id = $7, $7 IS NULL) AND at >= coalesce($8, at) AND at <
    coalesce($9, at + 1) AND (seq > $1 OR id > $10) ORDER BY seq, id LIMIT $11;

--
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys ORDER BY id;

--
SELECT count(*) FROM staff;

-- 'Ana', 'ana', 'manager', '3786912000022', '\x81d15b8029d5f9d8e64a09b2e80132d6345d1a7bd16aa10b92158a2d7cf4ab0b', '3786998400000', '1'
INSERT INTO staff (name, name_key, role, created_at, link, link_until, version) VALUES ($1, $2, $3, $4, $5, $6, $7) ON
    CONFLICT (name_key) DO NOTHING RETURNING id;

--
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff ORDER BY id;

-- 'ana'
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff WHERE name_key = $1;

-- 'manager', NULL, NULL, '\x81d15b8029d5f9d8e64a09b2e80132d6345d1a7bd16aa10b92158a2d7cf4ab0b', '3786998400000', NULL, NULL, NULL, '2', NULL, '1', '1'
UPDATE staff SET role = $1, disabled_at = $2, password = $3, link = $4, link_until = $5, totp_secret = $6,
    totp_last_period = $7, recovery = $8, version = $9, language = $10 WHERE id = $11 AND version = $12;

-- '\x81d15b8029d5f9d8e64a09b2e80132d6345d1a7bd16aa10b92158a2d7cf4ab0b'
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff WHERE link = $1;

-- '\x081de6830b452fefaa907602432c394a53f8f8cd76336c324688359e805bd148', '1', '3786912005758', '3786912005758', '3786912005758', '127.0.0.1', ''
INSERT INTO staff_sessions (digest, staff_id, begun_at, seen_at, confirmed_at, address, browser) VALUES ($1, $2, $3,
    $4, $5, $6, $7);

-- '\x081de6830b452fefaa907602432c394a53f8f8cd76336c324688359e805bd148'
SELECT digest, staff_id, begun_at, seen_at, confirmed_at, address, browser, staff.id, name, role, created_at,
    disabled_at, password, link, link_until, totp_secret, totp_last_period, recovery, version, language FROM
    staff_sessions JOIN staff ON staff.id = staff_id WHERE digest = $1;

-- '9223372036854775807', '101'
SELECT * FROM ((SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS
    bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note FROM pets WHERE status =
    'available' AND id < $1 ORDER BY id DESC NULLS LAST LIMIT 101) UNION ALL (SELECT id, name, category_id, status,
    version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS
    reason, CAST(NULL AS text) AS note FROM pets WHERE status = 'pending' AND id < $1 ORDER BY id DESC NULLS LAST
    LIMIT 101)) AS page ORDER BY id DESC NULLS LAST LIMIT $2;

-- '0', '41', '3786912000000'
SELECT coalesce(( SELECT greatest($1::bigint, least($2::bigint - 1, seq + length - 1)) FROM change_numbers WHERE
    latest_at < $3 ORDER BY latest_at DESC, seq DESC LIMIT 1), $1);

--
SELECT first_steps FROM profile;

-- '9223372036854775807', '51', 'available', 'pending'
SELECT page.*, CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders WHERE pet_id = page.id AND holds AND
    orders.status = 'reserved') END FROM ((SELECT id, name, category_id, status, version, created_at, updated_at,
    fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note
    FROM pets WHERE id < $1 AND status = $3 ORDER BY id DESC NULLS LAST LIMIT 101) UNION ALL (SELECT id, name,
    category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS withdrawn_at,
    CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note FROM pets WHERE id < $1 AND status = $4 ORDER BY id DESC
    NULLS LAST LIMIT 101)) AS page ORDER BY id DESC NULLS LAST LIMIT $2;

-- '3821558405971', '-62167219200000', '0', '100'
SELECT id, expires_at FROM orders WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3) ORDER
    BY expires_at, id LIMIT $4;

-- '-1', '40', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '9223372036854775807', '51'
SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id FROM acts WHERE seq >= $1 AND
    seq <= $2 AND type = coalesce($3, type) AND type LIKE coalesce($4, '%') AND coalesce(subject_id = $5, $5 IS NULL)
    AND actor = coalesce($6, actor) AND coalesce(actor_id = $7, $7 IS NULL) AND at >= coalesce($8, at) AND at <
    coalesce($9, at + 1) AND (seq < $2 OR id < $10) ORDER BY seq DESC, id DESC LIMIT $11;

-- NULL
SELECT digest, staff_id, begun_at, seen_at, confirmed_at, address, browser FROM staff_sessions WHERE staff_id =
    coalesce($1, staff_id) ORDER BY begun_at, digest;

-- '1', NULL, '\x081de6830b452fefaa907602432c394a53f8f8cd76336c324688359e805bd148'
DELETE FROM staff_sessions WHERE staff_id = $1 AND digest IS DISTINCT FROM $2 AND digest = coalesce($3, digest);

-- '1', '3786912005', NULL
UPDATE api_keys SET last_used_at = CASE WHEN last_used_at > $2 THEN last_used_at ELSE $2 END, last_deprecated_call_at
    = CASE WHEN last_deprecated_call_at < $3 OR last_deprecated_call_at IS NULL THEN $3 ELSE last_deprecated_call_at
    END WHERE id = $1 AND (coalesce(last_used_at < $2, TRUE) OR coalesce(last_deprecated_call_at < $3, CAST($3 AS
    bigint) IS NOT NULL));

--
SELECT sha256(concat( extract(epoch FROM pg_postmaster_start_time()), ' ', pg_current_snapshot())::bytea);

-- '50000'
SELECT count(*) FROM ( SELECT FROM pets WHERE status IN ('available', 'pending') LIMIT $1 ) AS counted;

-- '40', NULL, NULL, '1'
UPDATE webhooks SET cursor = $1, last_message = $2, failing_since = $3 WHERE id = $4;
