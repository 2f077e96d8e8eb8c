//! The OpenAPI documents in the repository.

use std::fs;

use petstore_formats::json::declared_resources;
use serde_json::Value;

use super::{declared::put_declared, in_full::in_full, yaml::yaml};

fn read(path: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(petstore_testing::root().join(path)).unwrap())
        .unwrap()
}

fn json(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap() + "\n"
}

/// Writes the documents that are not those of their sources.
#[test]
fn the_documents_in_the_repository_are_those_of_their_sources() {
    let mut source = read("openapi/openapi-store.source.yaml");
    put_declared(
        &mut source,
        &petstore_api::declared_bodies(),
        &declared_resources(),
    );
    let store = in_full(source);
    let text = format!(
        "# Written from openapi-store.source.yaml.\n\n{}",
        yaml(&store)
    );
    assert_eq!(json(&serde_saphyr::from_str(&text).unwrap()), json(&store));
    let mut stale = vec![
        ("openapi/openapi.json", json(&read("openapi/openapi.yaml"))),
        ("openapi/openapi-store.json", json(&store)),
        ("openapi/openapi-store.yaml", text),
    ];
    let root = petstore_testing::root();
    stale.retain(|(path, text)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(text));
    for (path, text) in &stale {
        fs::write(root.join(path), text).unwrap();
    }
    let names: Vec<_> = stale.iter().map(|(path, _)| *path).collect();
    assert!(
        names.is_empty(),
        "{names:?} were not those of the sources; they are now: commit them"
    );
}
