//! `petstore openapi`.

use serde_json::{Value, json};

use super::program::{directory, run};

#[test]
fn openapi_prints_the_document_as_json_and_yaml_with_the_servers() {
    let here = directory();
    let plain = run(here.path(), &["openapi"]).expect_success().stdout;
    assert!(plain.starts_with("openapi: "), "{plain}");
    let arguments = [
        "openapi",
        "--format",
        "json",
        "--base-url",
        "https://pets.example/v1",
        "--staging-base-url",
        "https://staging.pets.example/v1",
    ];
    let document: Value =
        serde_json::from_str(&run(here.path(), &arguments).expect_success().stdout).unwrap();
    let urls: Vec<&Value> = document["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| &server["url"])
        .collect();
    assert_eq!(
        urls,
        ["https://pets.example/v1", "https://staging.pets.example/v1"]
    );
    let yaml: Value = serde_saphyr::from_str(&plain).unwrap();
    assert_eq!(yaml["servers"][0]["url"], json!("/v1"));
    assert_eq!(yaml["paths"], document["paths"]);
}

#[test]
fn openapi_prints_the_document_with_the_address_of_one_service() {
    let here = directory();
    let server = "http://[::1]:8080/v1";
    for (format, read) in [
        (
            "json",
            (|text| serde_json::from_str(text).unwrap()) as fn(&str) -> Value,
        ),
        ("yaml", |text| serde_saphyr::from_str(text).unwrap()),
    ] {
        let arguments = ["openapi", "--format", format, "--server", server];
        let mut command = super::program::command(here.path(), &arguments);
        command.env("PETSTORE_BASE_URL", "https://pets.example/v1");
        let document = read(&super::program::finish(&mut command).expect_success().stdout);
        assert_eq!(document["servers"].as_array().unwrap().len(), 1);
        assert_eq!(document["servers"][0]["url"], server);
    }
    let rejected = run(
        here.path(),
        &["openapi", "--server", "http://127.0.0.1:8080"],
    );
    assert!(rejected.expect_one_line().contains("/v1"));
}

#[test]
fn openapi_prints_the_store_area_with_the_address_of_the_service() {
    let here = directory();
    let printed = |arguments: &[&str]| run(here.path(), arguments).expect_success().stdout;
    let yaml: Value = serde_saphyr::from_str(&printed(&["openapi", "--store"])).unwrap();
    assert_eq!(
        yaml,
        serde_saphyr::from_str::<Value>(include_str!("../../../../openapi/openapi-store.yaml"))
            .unwrap()
    );
    let server = "https://pets.example/v1";
    let arguments = ["openapi", "--store", "--format", "json", "--server", server];
    let json: Value = serde_json::from_str(&printed(&arguments)).unwrap();
    assert_eq!(json["servers"][0]["url"], server);
    assert_eq!(json["paths"], yaml["paths"]);
}
