//! The OpenAPI documents in the repository.

use std::fs;

use serde_json::Value;

/// Writes the JSON if it is not that of the YAML.
#[test]
fn the_json_documents_in_the_repository_are_those_in_yaml() {
    for name in ["openapi", "openapi-store"] {
        let read = |ending| fs::read_to_string(format!("{name}.{ending}")).unwrap();
        let yaml: Value = serde_saphyr::from_str(&read("yaml")).unwrap();
        if serde_json::from_str::<Value>(&read("json")).ok() != Some(yaml.clone()) {
            let json = serde_json::to_string_pretty(&yaml).unwrap();
            fs::write(format!("{name}.json"), json + "\n").unwrap();
            panic!("{name}.json was not that of {name}.yaml; it is now: commit it");
        }
    }
}
