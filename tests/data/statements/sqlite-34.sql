-- What a service of 0.3.0, with schema version 34, runs: one statement of each kind, after its values.
-- Each finds or changes a row at least, in this order.

-- 'Species', NULL, 'species'
UPDATE fields SET label = ?1, choice_labels = ?2 WHERE name = ?3;

--
SELECT key FROM etag_key;

--
SELECT coalesce(max(id), 0) FROM pets;

--
SELECT coalesce(max(number), 0) FROM idempotency_marks;

--
SELECT coalesce((SELECT min(seq) FROM changes), 1), coalesce((SELECT max(seq) FROM changes), 0), epoch FROM change_log;

--
SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= -62167219200000) FROM orders INDEXED BY orders_by_end
    WHERE status = 'reserved';

-- x'f46d051a48c6f437aea1c7c09e91f8608fa105e38c82671d80558bb788bf373a', 'a', 'write', 'store:admin', 'production', 3786912000, NULL, NULL
INSERT INTO api_keys (digest, name, scope, store_scope, deployment, created_at, expires_at, rate_limit) VALUES (?1,
    ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id;

-- 3786912000004, 'key.created', 1, 'command', NULL, NULL, NULL, '{"name":"a","scope":"store:admin"}'
INSERT INTO acts (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details) VALUES
    (coalesce((SELECT max(seq) FROM changes), 0), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- 1
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys WHERE id = ?1;

--
SELECT digest, name FROM api_keys ORDER BY id DESC LIMIT 1;

--
SELECT digest FROM api_keys;

-- 'Frank', 7, 'available', 3786912000421
INSERT INTO pets (name, category_id, status, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4);

-- 3786912000421, 3786912000421, 1, 'key', 2, 'w', 'ae831e5962d524ee3baa20980088410f', '{"id":1,"name":"Frank","categoryId":7,"status":"available","version":1,"createdAt":"2090-01-01T00:00:00.421Z","updatedAt":"2090-01-01T00:00:00.421Z","orderId":null,"withdrawn":null,"fields":{},"photos":[]}'
INSERT INTO changes (latest_at, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id,
    before, after) VALUES (?1, ?2, 'pet.added', ?3, 1, ?3, ?4, ?5, ?6, ?7, NULL, ?8);

--
SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1;

-- 2
WITH RECURSIVE lineage (id) AS ( SELECT CAST(?1 AS bigint) UNION SELECT api_keys.id FROM lineage JOIN api_keys ON
    successor_id = lineage.id) SELECT id FROM lineage WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE successor_id =
    lineage.id);

-- 2, 'k1', 'createPet', x'94df2fcf76e0d959d082f30d97c4f3ebd4e9ce7f63c16a8a3a926e9d126f7090', 201, '/pets/4', NULL, x'7b226964223a342c226e616d65223a22426f222c2263617465676f72794964223a372c22737461747573223a22617661696c61626c65227d', 3786912000, 0
INSERT INTO requests (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark) VALUES (?1,
    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING;

-- 2, 'k1', x'94df2fcf76e0d959d082f30d97c4f3ebd4e9ce7f63c16a8a3a926e9d126f7090', 4, 3786912000
INSERT OR REPLACE INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5);

-- 2, 'k1'
SELECT operation, fingerprint, status, location, etag, body FROM requests WHERE caller = ?1 AND key = ?2;

-- 0
SELECT 1 FROM pets NOT INDEXED WHERE id > ?1 AND NOT goes_on_page(id, name, category_id, status) ORDER BY id LIMIT 1;

-- 0
SELECT 1 FROM pets INDEXED BY pets_available WHERE status = 'available' AND id > ?1 AND NOT goes_on_page(id, name,
    category_id) ORDER BY id LIMIT 1;

-- x'f46d051a48c6f437aea1c7c09e91f8608fa105e38c82671d80558bb788bf373a'
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys WHERE digest = ?1;

--
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'pets';

-- 5, 'Lola', 3, 'available', 1, 3786912000441, 3786912000441, '{"born":"2089-05-01","breed":"Siamese mix","microchip":"276098106123456","price":"120.50","sex":"Female","species":"Cat"}', NULL
INSERT INTO pets (id, name, category_id, status, version, created_at, updated_at, fields, photos) VALUES (?, ?, ?, ?,
    ?, ?, ?, ?, ?);

-- 'microchip', '276098106123456', 5
INSERT INTO unique_values (field, key, pet_id) VALUES (?1, ?2, ?3);

-- 3786912000441, 3786912000441, 'pet.added', 5, 1, 5, 'key', 1, 'a', 'a3c2b88d2c49673f6cb8c0ed1aa9cd4f', NULL, '{"id":5,"name":"Lola","categoryId":3,"status":"available","version":1,"createdAt":"2090-01-01T00:00:00.441Z","updatedAt":"2090-01-01T00:00:00.441Z","orderId":null,"withdrawn":null,"fields":{"born":"2089-05-01","breed":"Siamese mix","microchip":"276098106123456","price":"120.50","sex":"Female","species":"Cat"},"photos":[]}'
INSERT INTO changes (latest_at, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id,
    before, after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- 0, 21
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN
    (SELECT orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets NOT INDEXED WHERE id > ?1 ORDER BY id ASC LIMIT ?2;

-- 0, 21
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN
    (SELECT orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets INDEXED BY pets_available WHERE status = 'available' AND id > ?1 ORDER BY id ASC LIMIT
    ?2;

-- 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN
    (SELECT orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets WHERE id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
    ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40,
    ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54, ?55, ?56, ?57, ?58, ?59, ?60, ?61, ?62, ?63,
    ?64, ?65, ?66, ?67, ?68, ?69, ?70, ?71, ?72, ?73, ?74, ?75, ?76, ?77, ?78, ?79, ?80, ?81, ?82, ?83, ?84, ?85, ?86,
    ?87, ?88, ?89, ?90, ?91, ?92, ?93, ?94, ?95, ?96, ?97, ?98, ?99, ?100);

-- 5
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN
    (SELECT orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets WHERE id = ?1;

-- 'Lola II', 2, 3786912001977, '{"born":"2089-05-01","breed":"Siamese","microchip":"276098106123456","price":"120.50","sex":"Female","species":"Cat"}', 5, 1
UPDATE OR FAIL pets SET name = ?, version = ?, updated_at = ?, fields = ? WHERE id = ? AND version = ?;

-- 'bd2d095cfb5066ccc72f2eaf134619f1', 5
INSERT INTO photos (id, pet_id) VALUES (?1, ?2);

-- 3, 3786912002078, '[{"id":"bd2d095cfb5066ccc72f2eaf134619f1","width":32,"height":32,"addedAt":3786912002078}]', 5, 2
UPDATE OR FAIL pets SET version = ?, updated_at = ?, photos = ? WHERE id = ? AND version = ?;

-- 'bd2d095cfb5066ccc72f2eaf134619f1', 5
DELETE FROM photos WHERE id = ?1 AND pet_id = ?2;

--
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'orders';

-- 1, 5, 'reserved', 1, 'R-1', NULL, NULL, 3788121602159, 3786912002159, NULL, 1, '100'
INSERT INTO orders (id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version,
    price) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- 1, 'Ana 123'
INSERT INTO order_contacts (order_id, contact) VALUES (?1, ?2) ON CONFLICT (order_id) DO UPDATE SET contact =
    excluded.contact;

-- 1
SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version, price, (SELECT
    contact FROM order_contacts WHERE order_id = orders.id) AS contact FROM orders WHERE id = ?1;

-- 1
SELECT orders.id, orders.pet_id, orders.status, orders.holds, orders.reference, orders.note, orders.reason,
    orders.expires_at, orders.created_at, orders.closed_at, orders.version, orders.price, (SELECT contact FROM
    order_contacts WHERE order_id = orders.id) AS contact, pets.id, pets.name, pets.category_id, pets.status,
    pets.version, pets.created_at, pets.updated_at, pets.fields, pets.photos, NULL, NULL, NULL FROM orders LEFT JOIN
    pets ON pets.id = pet_id WHERE orders.id = ?1;

-- 'call', 2, 1, 1
UPDATE OR FAIL orders SET note = ?, version = ? WHERE id = ? AND version = ?;

-- 'completed', 3786912002175, 3, 1, 2
UPDATE OR FAIL orders SET status = ?, closed_at = ?, version = ? WHERE id = ? AND version = ?;

-- 0, 21
SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version, price, contact
    FROM orders NOT INDEXED LEFT JOIN order_contacts ON order_id = id WHERE id > ?1 ORDER BY id LIMIT ?2;

-- 0, 21, 'completed'
SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version, price, contact
    FROM orders INDEXED BY orders_by_status LEFT JOIN order_contacts ON order_id = id WHERE id > ?1 AND status = ?3
    ORDER BY id LIMIT ?2;

-- 0, 21, 'R-1', NULL
SELECT id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version, price, contact
    FROM orders INDEXED BY orders_by_reference LEFT JOIN order_contacts ON order_id = id WHERE id > ?1 AND reference =
    ?3 AND (CAST(?4 AS text) IS NULL OR status = ?4) ORDER BY id LIMIT ?2;

-- 5, 'Lola II', 3, 'available', 13, 3786912000441, 3786912002200, '{"born":"2089-05-01","breed":"Siamese","microchip":"276098106123456","price":"120.50","sex":"Female","species":"Cat"}', '[{"id":"af59df9bd5b32b52f0cb034552a3f72d","width":32,"height":32,"addedAt":3786912002100}]', 3786912002200, 'died', NULL
INSERT INTO withdrawn_pets (id, name, category_id, status, version, created_at, updated_at, fields, photos,
    withdrawn_at, reason, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- 'microchip', '276098106123456', 5
DELETE FROM unique_values WHERE field = ?1 AND key = ?2 AND pet_id = ?3;

-- 0, 21
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, withdrawn_at, reason, note,
    NULL FROM withdrawn_pets NOT INDEXED WHERE id > ?1 ORDER BY id ASC LIMIT ?2;

-- 5
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, withdrawn_at, reason, note,
    NULL FROM withdrawn_pets WHERE id = ?1;

-- 5, 13
DELETE FROM withdrawn_pets WHERE id = ?1 AND version = ?2;

--
SELECT 'available', count(*) FROM pets INDEXED BY pets_available WHERE status = 'available' UNION ALL SELECT
    'pending', count(*) FROM pets INDEXED BY pets_pending WHERE status = 'pending' UNION ALL SELECT 'sold', count(*)
    FROM pets INDEXED BY pets_sold WHERE status = 'sold' UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets;

-- 3, 'Cats', 1
INSERT INTO categories (id, label, version) VALUES (?, ?, ?);

-- -9223372036854775808, 21
SELECT id, label, version FROM categories WHERE id >= ?1 ORDER BY id LIMIT ?2;

-- 3
SELECT id, label, version FROM categories WHERE id = ?1;

-- 'Cats 2', 2, 3, 1
UPDATE OR FAIL categories SET label = ?, version = ? WHERE id = ? AND version = ?;

-- 1
UPDATE field_state SET version = version + 1 WHERE version = ?1;

-- 'temper', 'Temper', 'choice', '["Calm","Shy"]', 0, 0, 0, 1, NULL
INSERT INTO fields (name, label, kind, choices, is_public, is_unique, position, version, choice_labels) VALUES (?1,
    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (name) DO UPDATE SET label = excluded.label, kind = excluded.kind,
    choices = excluded.choices, is_public = excluded.is_public, is_unique = excluded.is_unique, position =
    excluded.position, version = excluded.version, choice_labels = excluded.choice_labels;

-- '"temper":'
SELECT EXISTS (SELECT 1 FROM pets WHERE instr(fields, ?1) > 0) OR EXISTS (SELECT 1 FROM withdrawn_pets WHERE
    instr(fields, ?1) > 0);

-- 1, 6
SELECT id, status, FALSE, category_id, fields, name FROM pets WHERE id >= ?1 AND id <= ?2 UNION ALL SELECT id, status,
    TRUE, category_id, fields, name FROM withdrawn_pets WHERE id >= ?1 AND id <= ?2;

-- 'temper'
DELETE FROM fields WHERE name = ?1;

--
SELECT members, version, logo FROM profile;

-- '{"name":"Shop","language":null,"currency":"EUR","email":null,"telephone":null,"contactPage":null,"address":null,"hours":null,"about":null,"links":[],"colour":null,"kind":null}', 2, 1, NULL
UPDATE profile SET members = ?1, version = ?2, logo = ?4 WHERE version = ?3;

-- 'b5bbe8ee06be213f020020', x'89504e470d0a1a0a0000000d4948445200000020000000200802000000fc18eda30000002c4944415478daedcda10d00300800304266b058feff734f806b1fe88beab994714c2010080402814020106cf906120a2d5346ae7d0000000049454e44ae426082'
INSERT INTO logos (name, png) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET replaced_at = NULL;

-- 3786912002235, NULL
UPDATE logos SET replaced_at = ?1 WHERE replaced_at IS NULL AND name <> coalesce(?2, '');

--
UPDATE webhook_ids SET last = last + 1 RETURNING last;

--
SELECT count(*) FROM webhooks;

-- 1, 'http://127.0.0.1:9/x', NULL, NULL, NULL, 3786912002240, 3786912002240, 1, x'01d51e70329e374d8e56e9439fd3a469c165eaaac3c0ee1fef331ed98e2c27ddff3d7ea2ba9b84398decf3464b97d3e83c59a67246c57763e804b8c058', NULL, NULL, 40, NULL
INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at, updated_at, version, secret,
    previous_secret, previous_secret_until, cursor, last_message, lease_holder, lease_beat) VALUES (?1, ?2, ?3, ?4,
    ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0);

--
SELECT id, url, types, description, disabled_reason, created_at, updated_at, version, secret, previous_secret,
    previous_secret_until, cursor, last_message, failing_since, lease_holder, lease_beat FROM webhooks ORDER BY id;

-- 1, 'http://127.0.0.1:9/x', NULL, 'x', NULL, 3786912002246, 2, x'01d51e70329e374d8e56e9439fd3a469c165eaaac3c0ee1fef331ed98e2c27ddff3d7ea2ba9b84398decf3464b97d3e83c59a67246c57763e804b8c058', NULL, NULL
UPDATE webhooks SET url = ?2, types = ?3, description = ?4, disabled_reason = ?5, updated_at = ?6, version = ?7,
    secret = ?8, previous_secret = ?9, previous_secret_until = ?10, lease_holder = 0, lease_beat = lease_beat + 1
    WHERE id = ?1 AND version = CAST(?7 AS bigint) - 1;

-- 1
UPDATE webhooks SET version = version WHERE id = ?1;

-- 0, 40, NULL, 100
SELECT seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after FROM changes
    WHERE seq > ?1 AND seq <= ?2 AND (CAST(?3 AS text) IS NULL OR type = ?3) ORDER BY seq LIMIT ?4;

-- 0, 40, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 21
SELECT seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after FROM changes
    WHERE seq > ?1 AND seq <= ?2 AND type = coalesce(?3, type) AND type LIKE coalesce(?4, '%') AND coalesce(subject_id
    = ?5, ?5 IS NULL) AND actor = coalesce(?6, actor) AND coalesce(actor_id = ?7, ?7 IS NULL) AND at >= coalesce(?8,
    at) AND at < coalesce(?9, at + 1) ORDER BY seq LIMIT ?10;

-- -1, 9223372036854775807, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 21
SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id FROM acts WHERE seq >= ?1 AND
    seq <= ?2 AND type = coalesce(?3, type) AND type LIKE coalesce(?4, '%') AND coalesce(subject_id = ?5, ?5 IS NULL)
    AND actor = coalesce(?6, actor) AND coalesce(actor_id = ?7, ?7 IS NULL) AND at >= coalesce(?8, at) AND at <
    coalesce(?9, at + 1) AND (seq > ?1 OR id > ?10) ORDER BY seq, id LIMIT ?11;

--
SELECT id, name FROM pets ORDER BY id LIMIT 1;

--
SELECT id, name FROM pets ORDER BY id DESC LIMIT 1;

--
SELECT key, fingerprint FROM idempotency_keys ORDER BY created_at LIMIT 1;

--
SELECT key, body FROM requests ORDER BY id DESC LIMIT 1;

--
SELECT key, body FROM requests ORDER BY mark LIMIT 1;

--
SELECT id, reference FROM orders ORDER BY id DESC LIMIT 1;

--
SELECT id, label FROM categories ORDER BY id DESC LIMIT 1;

--
SELECT id, name FROM pets INDEXED BY pets_available WHERE status = 'available' ORDER BY id ASC LIMIT 1;

--
SELECT id, name FROM pets INDEXED BY pets_available WHERE status = 'available' ORDER BY id DESC LIMIT 1;

--
SELECT count(*) FROM staff;

-- 'Ana', 'ana', 'manager', 3786912000016, x'c4d2752455dff3d27bca5e269c683e886fb121108bc736af505dcf67819d8485', 3786998400000, 1
INSERT INTO staff (name, name_key, role, created_at, link, link_until, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON
    CONFLICT (name_key) DO NOTHING RETURNING id;

--
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff ORDER BY id;

-- 'ana'
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff WHERE name_key = ?1;

-- 'manager', NULL, NULL, x'c4d2752455dff3d27bca5e269c683e886fb121108bc736af505dcf67819d8485', 3786998400000, NULL, NULL, NULL, 2, NULL, 1, 1
UPDATE staff SET role = ?1, disabled_at = ?2, password = ?3, link = ?4, link_until = ?5, totp_secret = ?6,
    totp_last_period = ?7, recovery = ?8, version = ?9, language = ?10 WHERE id = ?11 AND version = ?12;

--
SELECT id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, revoked_at,
    successor_id, rate_limit, last_deprecated_call_at FROM api_keys ORDER BY id;

-- x'c4d2752455dff3d27bca5e269c683e886fb121108bc736af505dcf67819d8485'
SELECT staff.id, name, role, created_at, disabled_at, password, link, link_until, totp_secret, totp_last_period,
    recovery, version, language FROM staff WHERE link = ?1;

-- x'8bf693ba2bdaee638833e171b4a7d02d9c617ffb1dc609fb77b649e4488e365d', 1, 3786912004369, 3786912004369, 3786912004369, '127.0.0.1', ''
INSERT INTO staff_sessions (digest, staff_id, begun_at, seen_at, confirmed_at, address, browser) VALUES (?1, ?2, ?3,
    ?4, ?5, ?6, ?7);

-- x'8bf693ba2bdaee638833e171b4a7d02d9c617ffb1dc609fb77b649e4488e365d'
SELECT digest, staff_id, begun_at, seen_at, confirmed_at, address, browser, staff.id, name, role, created_at,
    disabled_at, password, link, link_until, totp_secret, totp_last_period, recovery, version, language FROM
    staff_sessions JOIN staff ON staff.id = staff_id WHERE digest = ?1;

-- 9223372036854775807, 101
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note FROM pets INDEXED BY pets_available WHERE
    status = 'available' AND id < ?1 UNION ALL SELECT id, name, category_id, status, version, created_at, updated_at,
    fields, photos, CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note
    FROM pets INDEXED BY pets_pending WHERE status = 'pending' AND id < ?1 ORDER BY id DESC LIMIT ?2;

-- 0, 41, 3786912000000
WITH RECURSIVE search (low, high) AS ( SELECT CAST(?1 AS bigint), CAST(?2 AS bigint) UNION ALL SELECT CASE WHEN
    (SELECT latest_at FROM changes WHERE seq = (low + high) / 2) < CAST(?3 AS bigint) THEN (low + high) / 2 ELSE low
    END, CASE WHEN (SELECT latest_at FROM changes WHERE seq = (low + high) / 2) < ?3 THEN high ELSE (low + high) / 2
    END FROM search WHERE high - low > 1) SELECT max(low) FROM search;

--
SELECT first_steps FROM profile;

-- 9223372036854775807, 51
SELECT id, name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS
    withdrawn_at, CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN
    (SELECT orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets INDEXED BY pets_available WHERE status = 'available' AND id < ?1 UNION ALL SELECT id,
    name, category_id, status, version, created_at, updated_at, fields, photos, CAST(NULL AS bigint) AS withdrawn_at,
    CAST(NULL AS text) AS reason, CAST(NULL AS text) AS note, CASE WHEN pets.status <> 'available' THEN (SELECT
    orders.id FROM orders INDEXED BY orders_one_holds WHERE pet_id = pets.id AND holds = 1 AND orders.status =
    'reserved') END FROM pets INDEXED BY pets_pending WHERE status = 'pending' AND id < ?1 ORDER BY id DESC LIMIT ?2;

-- 5, 9223372036854775807, 21
SELECT seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after FROM changes
    INDEXED BY changes_by_pet WHERE pet_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3;

-- 0, 40, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 51
SELECT seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after FROM changes
    WHERE seq > ?1 AND seq <= ?2 AND type = coalesce(?3, type) AND type LIKE coalesce(?4, '%') AND coalesce(subject_id
    = ?5, ?5 IS NULL) AND actor = coalesce(?6, actor) AND coalesce(actor_id = ?7, ?7 IS NULL) AND at >= coalesce(?8,
    at) AND at < coalesce(?9, at + 1) ORDER BY seq DESC LIMIT ?10;

-- -1, 40, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 9223372036854775807, 51
SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id FROM acts WHERE seq >= ?1 AND
    seq <= ?2 AND type = coalesce(?3, type) AND type LIKE coalesce(?4, '%') AND coalesce(subject_id = ?5, ?5 IS NULL)
    AND actor = coalesce(?6, actor) AND coalesce(actor_id = ?7, ?7 IS NULL) AND at >= coalesce(?8, at) AND at <
    coalesce(?9, at + 1) AND (seq < ?2 OR id < ?10) ORDER BY seq DESC, id DESC LIMIT ?11;

-- NULL
SELECT digest, staff_id, begun_at, seen_at, confirmed_at, address, browser FROM staff_sessions WHERE staff_id =
    coalesce(?1, staff_id) ORDER BY begun_at, digest;

-- 1, NULL, x'8bf693ba2bdaee638833e171b4a7d02d9c617ffb1dc609fb77b649e4488e365d'
DELETE FROM staff_sessions WHERE staff_id = ?1 AND digest IS DISTINCT FROM ?2 AND digest = coalesce(?3, digest);

-- 40, NULL, NULL, 1
UPDATE webhooks SET cursor = ?1, last_message = ?2, failing_since = ?3 WHERE id = ?4;

-- 50000
SELECT count(*) FROM (SELECT * FROM (SELECT id FROM pets INDEXED BY pets_available WHERE status = 'available' UNION
    ALL SELECT id FROM pets INDEXED BY pets_pending WHERE status = 'pending') LIMIT ?1);

-- 1, 3786912004, NULL
UPDATE api_keys SET last_used_at = CASE WHEN last_used_at > ?2 THEN last_used_at ELSE ?2 END, last_deprecated_call_at
    = CASE WHEN last_deprecated_call_at < ?3 OR last_deprecated_call_at IS NULL THEN ?3 ELSE last_deprecated_call_at
    END WHERE id = ?1 AND (coalesce(last_used_at < ?2, TRUE) OR coalesce(last_deprecated_call_at < ?3, CAST(?3 AS
    bigint) IS NOT NULL));
