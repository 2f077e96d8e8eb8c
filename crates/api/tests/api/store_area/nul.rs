//! Texts with U+0000, which PostgreSQL cannot compare with any text.

use serde_json::Value;

use super::Store;

#[tokio::test]
async fn a_text_with_u_0000_in_a_path_or_a_query_fails_no_operation() {
    let store = Store::open().await;
    store.add("Luna", "available").await;
    let document: Value =
        serde_json::from_str(include_str!("../../../../../openapi/openapi-store.json")).unwrap();
    let mut targets = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let Some(get) = operations.get("get") else {
            continue;
        };
        let path = path.trim_start_matches("/v1").trim_start_matches("/store");
        let shared = operations.get("parameters").into_iter();
        let parameters = shared
            .chain(get.get("parameters"))
            .flat_map(|all| all.as_array().unwrap());
        for parameter in parameters {
            let parameter = match parameter["$ref"].as_str() {
                Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
                None => parameter,
            };
            let name = parameter["name"].as_str().unwrap();
            for text in ["%00", "1%00"] {
                match parameter["in"].as_str().unwrap() {
                    "path" => targets.push(path.replace(&format!("{{{name}}}"), text)),
                    "query" => targets.push(format!("{path}?{name}={text}")),
                    _ => {}
                }
            }
        }
    }
    targets.extend(
        [
            "/pets?field.species=%00",
            "/pets?q=a%00b",
            "/orders?reference=a%00b",
        ]
        .map(str::to_owned),
    );
    assert!(targets.len() > 40, "{targets:?}");
    for target in targets {
        let target = target.replace("{petId}", "1").replace("{orderId}", "1");
        let reply = store.get(&target).await;
        assert!(reply.status.as_u16() < 500, "{target}: {reply:?}");
    }
}
