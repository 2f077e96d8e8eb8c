//! The search by the values of fields.

use serde_json::json;

use super::{Store, values::open};

/// The identifiers of the animals that a search finds.
async fn found(store: &Store, query: &str) -> Vec<i64> {
    store.get(&format!("/pets?{query}")).await.ids()
}

#[tokio::test]
async fn animals_are_found_by_the_values_of_up_to_three_fields_with_every_other_filter() {
    let store = open().await;
    let luna = json!({ "species": "Cat", "colour": "Black", "microchip": "276098106012345" });
    let luna = store.new_with(luna).await;
    let other = store
        .new_with(json!({ "species": "Cat", "colour": "Bläck", "sex": "Male" }))
        .await;
    let white = store
        .new_with(json!({ "species": "Cat", "colour": "white" }))
        .await;
    store
        .new_with(json!({ "species": "Dog", "colour": "black", "born": "2024-02-29" }))
        .await;
    assert_eq!(
        found(&store, "field.microchip=276098106012345").await,
        [luna]
    );
    assert_eq!(
        found(&store, "field.species=CAT").await,
        [luna, other, white]
    );
    assert_eq!(
        found(&store, "field.species=cat&field.colour=black").await,
        [luna, other]
    );
    let three = "field.species=cat&field.colour=black&field.sex=Male";
    assert_eq!(found(&store, three).await, [other]);
    assert_eq!(found(&store, "field.born=2024-02-29").await.len(), 1);
    assert_eq!(found(&store, "field.species=Horse").await, [0_i64; 0]);
    store
        .change(
            &format!("PATCH /pets/{other}"),
            1,
            json!({ "status": "sold", "name": "Max" }),
        )
        .await
        .ok();
    store
        .change(
            &format!("POST /pets/{white}/withdraw"),
            1,
            json!({ "reason": "died" }),
        )
        .await
        .ok();
    assert_eq!(
        found(&store, "field.species=cat&status=available").await,
        [luna]
    );
    assert_eq!(
        found(&store, "field.species=cat&categoryId=2").await,
        [luna, other]
    );
    assert_eq!(
        found(&store, "field.species=cat&categoryId=3").await,
        [0_i64; 0]
    );
    assert_eq!(
        found(&store, "field.species=cat&withdrawn=true").await,
        [white]
    );
    assert_eq!(found(&store, "field.species=cat&name=ma").await, [other]);
    assert_eq!(
        found(&store, "field.species=cat&name=lu&status=sold").await,
        [0_i64; 0]
    );
}

#[tokio::test]
async fn a_walk_through_a_search_by_values_has_each_animal_once() {
    let store = open().await;
    let mut added = Vec::new();
    for _ in 0..120 {
        added.push(store.new_with(json!({ "species": "Cat" })).await);
    }
    for filter in ["field.species=cat", "field.species=cat&name=luna"] {
        let mut page = store.get(&format!("/pets?{filter}&limit=50")).await;
        let mut walked = page.ids();
        while page
            .header("link")
            .is_some_and(|link| link.contains("next"))
        {
            page = store.get(&page.following("next")).await;
            walked.extend(page.ids());
        }
        assert_eq!(walked, added, "{filter}");
    }
    // The same filters in another order and case.
    for _ in 0..2 {
        store
            .new_with(json!({ "species": "Cat", "sex": "Male" }))
            .await;
    }
    let both = "/pets?field.sex=Male&field.species=Cat";
    let page = store.get(&format!("{both}&limit=1")).await;
    let next = page.following("next").replace(
        "field.sex=Male&field.species=Cat",
        "field.species=cat&field.sex=MALE",
    );
    let [first, second] = [&page, &store.get(&next).await].map(|page| page.ids());
    assert_eq!([first, second].concat(), store.get(both).await.ids());
    let cursor = store
        .get("/pets?field.species=cat&limit=50")
        .await
        .following("next");
    let other = cursor.replace("=cat", "=dog");
    store.get(&other).await.expect_error(400, "invalid_cursor");
}

#[tokio::test]
async fn animals_are_found_by_words_of_names_values_and_labels_with_every_other_filter() {
    let store = open().await;
    let labels = json!({
        "label": "Gender", "kind": "choice", "choices": ["F", "M"], "choiceLabels": { "F": "Female" }
    });
    store.define("gender", labels).await;
    let luna = json!({
        "species": "Cat", "colour": "Black", "size": "Small", "gender": "F", "born": "2024-02-29",
        "microchip": "276 098"
    });
    let luna = store.new_with(luna).await;
    let rex =
        json!({ "species": "Dog", "colour": "black/tan", "gender": "M", "born": "2024-03-01" });
    let rex = store.new_with(rex).await;
    for q in [
        "small+black+female+cat",
        "bl%C3%A1+FEM",
        "276-098",
        "x+276098",
        "%231",
        "1+cat",
    ] {
        assert_eq!(found(&store, &format!("q={q}")).await, [luna], "{q}");
    }
    assert_eq!(found(&store, "q=black").await, [luna, rex]);
    for (q, expected) in [
        ("dogs", rex),
        ("black+cats", luna),
        ("schwarz+cats", 0),
        ("Hunde", rex),
        ("spotted", 0),
    ] {
        let expected: Vec<i64> = Some(expected).into_iter().filter(|id| *id != 0).collect();
        assert_eq!(found(&store, &format!("q={q}")).await, expected, "{q}");
    }
    assert_eq!(found(&store, "q=tan+m").await, [rex]);
    assert_eq!(found(&store, "q=black&field.gender=m").await, [rex]);
    assert_eq!(found(&store, "q=black&categoryId=99").await, [0_i64; 0]);
    assert_eq!(found(&store, "q=male").await, [0_i64; 0]);
    let (from, to) = ("field.born.from=2024-02-29", "field.born.to=2024-02-29");
    assert_eq!(found(&store, from).await, [luna, rex]);
    assert_eq!(found(&store, &format!("{from}&{to}")).await, [luna]);
    assert_eq!(
        found(&store, "field.born.from=2024-03-01&q=black").await,
        [rex]
    );
    assert_eq!(
        found(&store, &format!("field.born.from=2024-03-01&{to}")).await,
        [0_i64; 0]
    );
    // A walk belongs to its phrase and its range.
    let filters = format!("/pets?q=black&{from}&limit=1");
    let next = store.get(&filters).await.following("next");
    assert_eq!(store.get(&next).await.ids(), [rex]);
    for (old, new) in [("q=black", "q=tan"), ("from=2024-02-29", "from=2024-02-28")] {
        assert!(next.contains(old), "{next}");
        let other = next.replace(old, new);
        store.get(&other).await.expect_error(400, "invalid_cursor");
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn a_search_by_what_no_field_is_or_allows_is_400() {
    let store = open().await;
    store
        .define("litter", json!({ "label": "Litter", "kind": "integer" }))
        .await;
    for (query, code, says) in [
        (
            "field.color=black",
            "unknown_field",
            "No field has the name \"color\"",
        ),
        ("field.=black", "unknown_field", "No field has the name"),
        (
            "field.born=2024",
            "invalid_parameter",
            "field.born is of the kind date and must be",
        ),
        (
            "field.price=cheap",
            "invalid_parameter",
            "field.price is of the kind decimal",
        ),
        (
            "field.colour=",
            "invalid_parameter",
            "field.colour is of the kind text",
        ),
        (
            "field.litter=01",
            "invalid_parameter",
            "field.litter is of the kind integer",
        ),
        (
            "field.litter=%2B1",
            "invalid_parameter",
            "field.litter is of the kind integer",
        ),
        (
            "field.sex=%00",
            "invalid_parameter",
            "field.sex is of the kind choice",
        ),
        (
            "field.description=calm",
            "invalid_parameter",
            "has no search",
        ),
        (
            "field.sex=Male&field.sex=Female",
            "invalid_parameter",
            "field.sex is given more than once",
        ),
        (
            "field.sex=Male&field.colour=a&field.breed=b&field.size=Small",
            "invalid_parameter",
            "at most 3",
        ),
        ("fields.sex=Male", "unknown_parameter", "field.NAME"),
        (
            "q=",
            "invalid_parameter",
            "q must be a text of 1 to 64 characters and at most 16 words",
        ),
        ("q=+%C2%A0", "invalid_parameter", "q must be"),
        ("q=a%00", "invalid_parameter", "q must be"),
        ("q=%FF", "invalid_parameter", "must be UTF-8"),
        (
            "q=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q",
            "invalid_parameter",
            "q must be",
        ),
        (
            "field.color.from=2024-01-01",
            "unknown_field",
            "No field has the name \"color\"",
        ),
        (
            "field.colour.to=2024-01-01",
            "invalid_parameter",
            "for fields of the kind date",
        ),
        (
            "field.born.from=2024",
            "invalid_parameter",
            "field.born.from must be a date of the form",
        ),
        (
            "field.born.to=2023-02-29",
            "invalid_parameter",
            "field.born.to must be a date",
        ),
        (
            "field.born.until=2023-02-28",
            "unknown_field",
            "No field has the name",
        ),
        (
            "field.born=2024-01-01&field.born.to=2024-01-01",
            "invalid_parameter",
            "Give a value or a range.",
        ),
        (
            "field.born.from=2024-01-01&field.seen.to=2024-01-01",
            "invalid_parameter",
            "Ranges of 2 fields",
        ),
        (
            "field.sex=Male&field.colour=a&field.breed=b&field.born.to=2024-01-01",
            "invalid_parameter",
            "4 fields are given as field.NAME. A search has at most 3.",
        ),
    ] {
        let reply = store.get(&format!("/pets?{query}")).await;
        reply.expect_error(400, code);
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{query}: {message}");
    }
}

#[tokio::test]
async fn a_client_that_changes_values_without_a_pause_does_not_keep_the_search_away() {
    let store = open().await;
    // No task merges.
    let add = json!({
        "command": "addPet", "name": "Luna", "categoryId": 1, "fields": { "species": "Cat" }
    });
    for _ in 0..90 {
        store.batch(json!(vec![add.clone(); 100])).await.ok();
    }
    assert_eq!(found(&store, "field.species=cat&limit=3").await, [1, 2, 3]);
    // Without the merges of the commands, 9,000 animals would wait: more than one step merges.
    let has_backlog = store.server.store.tend_search(4_000).await.unwrap();
    assert!(!has_backlog);
}

#[tokio::test]
async fn a_field_that_gets_another_kind_leaves_nothing_of_the_values_before() {
    let store = open().await;
    let merge = async || while store.server.store.tend_search(0).await.unwrap() {};
    let pet = store.new_with(json!({ "price": "5.0" })).await;
    merge().await;
    let clear = json!({ "fields": { "price": null } });
    store
        .change(&format!("PATCH /pets/{pet}"), 1, clear)
        .await
        .ok();
    let text = json!({ "label": "Price", "kind": "text" });
    store.change("PUT /fields/price", 1, text).await.ok();
    merge().await;
    // The key of the number, in ten-thousandths.
    assert_eq!(found(&store, "field.price=50000").await, [0_i64; 0]);
}
