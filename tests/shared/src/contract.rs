//! Compares every response that any test receives with the OpenAPI document that its path belongs
//! to: an undeclared status code, header field, member or error code fails the test.

use std::{
    collections::HashMap,
    io::Read,
    ptr,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, HeaderName},
};
use serde_json::{Map, Value, json};

/// The contract, with every `$ref` replaced by its target.
pub static CONTRACT: LazyLock<Value> =
    LazyLock::new(|| document(include_str!("../../../openapi/openapi.yaml")));

/// The document of the store area, with every `$ref` replaced by its target.
pub static STORE_AREA: LazyLock<Value> =
    LazyLock::new(|| document(include_str!("../../../openapi/openapi-store.yaml")));

fn document(source: &str) -> Value {
    let document: Value = serde_saphyr::from_str(source).unwrap();
    inline(&document, &document)
}

/// The document that a path below `/v1` belongs to.
fn document_of(path: &str) -> &'static Value {
    if path == "/store" || path.starts_with("/store/") {
        &STORE_AREA
    } else {
        &CONTRACT
    }
}

/// Fields of HTTP itself.
const HTTP_FIELDS: [&str; 7] = [
    "content-type",
    "content-length",
    "content-encoding",
    "date",
    "transfer-encoding",
    "connection",
    "vary",
];

/// The prefix of the CORS fields, which are only for browsers.
const CORS_PREFIX: &str = "access-control-";

/// Fails unless the document declares this response.
pub fn check(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
    let what = format!("{method} {path} responded with {status}");
    let body = &decoded(headers, body);
    let Some(api_path) = path.strip_prefix("/v1") else {
        if !status.is_success() && !status.is_redirection() {
            check_body(
                &what,
                &CONTRACT,
                &CONTRACT["components"]["schemas"]["Error"],
                body,
            );
        }
        return;
    };
    let document = document_of(api_path);
    // A preflight is sent by the browser, and is in no document.
    if *method == Method::OPTIONS && status == 204 {
        return;
    }
    let declared = declared_response(document, method, api_path, status)
        .unwrap_or_else(|| panic!("{what}, which is not declared"));
    check_headers(&what, document, declared, headers);
    if *method == Method::HEAD || status == 304 || declared.get("content").is_none() {
        assert!(body.is_empty(), "{what} with a body");
        return;
    }
    assert_eq!(headers["content-type"], "application/json", "{what}");
    let content = &declared["content"]["application/json"];
    check_body(&what, document, &content["schema"], body);
    if let Some(examples) = content["examples"]
        .as_object()
        .filter(|_| !status.is_success())
    {
        let error: Value = serde_json::from_slice(body).unwrap();
        let code = error["code"].as_str().unwrap();
        assert!(
            examples.contains_key(code),
            "{what} with the undeclared code {code}"
        );
        assert_eq!(error["status"], status.as_u16(), "{what}");
    }
}

/// Fails unless the document declares a response with this head.
pub fn check_head(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap) {
    let what = format!("{method} {path} responded with {status}");
    let api_path = path.strip_prefix("/v1").unwrap();
    let document = document_of(api_path);
    let declared = declared_response(document, method, api_path, status);
    let declared = declared.unwrap_or_else(|| panic!("{what}, which is not declared"));
    check_headers(&what, document, declared, headers);
    let media_type = headers["content-type"].to_str().unwrap();
    assert!(
        declared["content"].get(media_type).is_some(),
        "{what} with {media_type}"
    );
}

/// Fails unless this is a change as the document declares it.
pub fn check_change(change: &Value) {
    let schema = &STORE_AREA["components"]["schemas"]["Change"];
    check_schema("an event", &STORE_AREA, schema, change);
}

/// The decoded body.
pub fn decoded(headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match headers
        .get("content-encoding")
        .map(|coding| coding.to_str().unwrap())
    {
        // The response to a HEAD also has `Content-Encoding`.
        Some(_) if body.is_empty() => {}
        Some("gzip") => {
            flate2::read::GzDecoder::new(body)
                .read_to_end(&mut plain)
                .unwrap();
        }
        Some(other) => panic!("unexpected coding {other}"),
        None => plain = body.to_vec(),
    }
    plain
}

/// The declaration of a status code of an operation. Paths outside the documents use the
/// declarations of `listPets` for 401, 429 and 431, and fixed ones for 404 and 405.
fn declared_response(
    document: &'static Value,
    method: &Method,
    path: &str,
    status: StatusCode,
) -> Option<&'static Value> {
    let status = status.as_str();
    let fits = |template: &str| {
        let mut segments = path.split('/');
        template.split('/').all(|expected| {
            segments.next().is_some_and(|segment| {
                segment == expected || (expected.starts_with('{') && !segment.is_empty())
            })
        }) && segments.next().is_none()
    };
    let mut paths = document["paths"].as_object().unwrap().iter();
    let operations = paths
        .find(|(template, _)| fits(template))
        .map(|(_, operations)| operations);
    let method = match *method {
        Method::HEAD => "get".to_owned(),
        _ => method.as_str().to_lowercase(),
    };
    if let Some(operation) = operations.and_then(|operations| operations.get(&method)) {
        return operation["responses"].get(status);
    }
    match status {
        "401" | "429" | "431" => CONTRACT["paths"]["/pets"]["get"]["responses"].get(status),
        "404" => Some(&UNKNOWN_PATH),
        "405" if operations.is_some() => Some(&UNKNOWN_METHOD),
        _ => None,
    }
}

static UNKNOWN_PATH: LazyLock<Value> = LazyLock::new(|| error_with(json!({})));

static UNKNOWN_METHOD: LazyLock<Value> =
    LazyLock::new(|| error_with(json!({ "Allow": { "required": true } })));

fn error_with(headers: Value) -> Value {
    let schema = &CONTRACT["components"]["schemas"]["Error"];
    let mut headers: Map<String, Value> = serde_json::from_value(headers).unwrap();
    for name in ["Cache-Control", "X-Content-Type-Options", "X-Request-Id"] {
        headers.insert(name.to_owned(), json!({ "required": true }));
    }
    json!({ "headers": headers, "content": { "application/json": { "schema": schema } } })
}

fn check_headers(what: &str, document: &Value, declared: &'static Value, headers: &HeaderMap) {
    let declared = declared["headers"].as_object().unwrap();
    // Every response of the deprecated path announces the deprecation, even without an operation.
    let deprecation = ["deprecation", "sunset", "link"];
    for name in headers.keys() {
        let known = declared
            .keys()
            .any(|declared| declared.eq_ignore_ascii_case(name.as_str()))
            || HTTP_FIELDS.contains(&name.as_str())
            || name.as_str().starts_with(CORS_PREFIX)
            || (what.contains("/v1/pets/") && deprecation.contains(&name.as_str()));
        assert!(known, "{what} with the undeclared header field {name}");
    }
    for (name, header) in declared {
        let value = headers.get(name.parse::<HeaderName>().unwrap());
        let required = header["required"] == true;
        assert!(
            value.is_some() || !required,
            "{what} without the header field {name}"
        );
        if let (Some(value), Some(schema)) = (value, header.get("schema")) {
            let text = value.to_str().unwrap();
            let value = match schema["type"].as_str() {
                Some("integer") => json!(text.parse::<i64>().unwrap()),
                _ => json!(text),
            };
            check_schema(what, document, schema, &value);
        }
    }
}

fn check_body(what: &str, document: &Value, schema: &'static Value, body: &[u8]) {
    let body = serde_json::from_slice(body)
        .unwrap_or_else(|error| panic!("{what} with a body that is no JSON: {error}"));
    check_schema(what, document, schema, &body);
}

/// The validators of the schemas in the documents, by their addresses, because to make one takes
/// longer than to use it. A schema has no members other than those that it declares.
static VALIDATORS: LazyLock<Mutex<HashMap<usize, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// OpenAPI 3.1 has the schemas of draft 2020-12. Those of 3.0 are nearest to draft 4.
fn validator(document: &Value, schema: &'static Value) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = validators
        .entry(ptr::from_ref(schema).addr())
        .or_insert_with(|| {
            let is_3_0 = document["openapi"].as_str().unwrap().starts_with("3.0.");
            let draft = if is_3_0 {
                jsonschema::Draft::Draft4
            } else {
                jsonschema::Draft::Draft202012
            };
            let options = jsonschema::options()
                .with_draft(draft)
                .should_validate_formats(!is_3_0);
            Arc::new(options.build(&closed(schema)).unwrap())
        });
    Arc::clone(validator)
}

fn check_schema(what: &str, document: &Value, schema: &'static Value, value: &Value) {
    let validator = validator(document, schema);
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(
        errors.is_empty(),
        "{what}: {value} is not as declared: {errors:?}"
    );
}

/// The schema without additional members.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: Map<String, Value> = members
                .iter()
                .map(|(name, member)| (name.clone(), closed(member)))
                .collect();
            if members.contains_key("properties") {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.into()
        }
        other => other.clone(),
    }
}

fn inline(value: &Value, document: &Value) -> Value {
    match value {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').unwrap();
                let mut target = inline(document.pointer(pointer).unwrap(), document);
                // OpenAPI 3.1 allows a description next to a reference.
                for (name, member) in members.iter().filter(|(name, _)| *name != "$ref") {
                    target[name] = inline(member, document);
                }
                target
            }
            None => members
                .iter()
                .map(|(name, member)| (name.clone(), inline(member, document)))
                .collect::<Map<_, _>>()
                .into(),
        },
        Value::Array(elements) => elements
            .iter()
            .map(|element| inline(element, document))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::*;

    fn response(status: u16, headers: &[(&'static str, &str)], body: &str) {
        response_to(&Method::GET, "/v1/pets", status, headers, body);
    }

    fn response_to(
        method: &Method,
        path: &str,
        status: u16,
        headers: &[(&'static str, &str)],
        body: &str,
    ) {
        let mut map = HeaderMap::new();
        let usual = [
            ("cache-control", "private, no-cache"),
            ("content-type", "application/json"),
            ("etag", r#"W/"0123456789abcdef""#),
            ("x-content-type-options", "nosniff"),
            ("x-request-id", "1"),
        ];
        let usual = usual
            .iter()
            .filter(|(name, _)| *name != "etag" || status == 200);
        for (name, value) in usual.chain(headers) {
            map.insert(*name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        check(method, path, status, &map, body.as_bytes());
    }

    const PETS: &str = r#"[{"id": 1, "name": "a", "categoryId": 1, "status": "sold"}]"#;

    #[test]
    fn a_declared_response_passes() {
        response(200, &[], PETS);
        response(200, &[("link", "x")], "[]");
    }

    #[test]
    #[should_panic(expected = "not declared")]
    fn an_undeclared_status_code_fails() {
        response(202, &[], PETS);
    }

    #[test]
    #[should_panic(expected = "undeclared header field x-more")]
    fn an_undeclared_header_field_fails() {
        response(200, &[("x-more", "1")], PETS);
    }

    #[test]
    #[should_panic(expected = "without the header field WWW-Authenticate")]
    fn a_missing_header_field_fails() {
        response(
            401,
            &[],
            r#"{"code": "missing_api_key", "message": "", "status": 401}"#,
        );
    }

    #[test]
    #[should_panic(expected = "Additional properties")]
    fn an_undeclared_member_fails() {
        response(
            200,
            &[],
            r#"[{"id": 1, "name": "a", "categoryId": 1, "more": 1}]"#,
        );
    }

    #[test]
    #[should_panic(expected = "undeclared code")]
    fn an_undeclared_error_code_fails() {
        response(
            400,
            &[],
            r#"{"code": "invalid_body", "message": "", "status": 400}"#,
        );
    }

    fn store_pet(version: &str, updated_at: &str) -> String {
        format!(
            r#"{{"id": 1, "name": "a", "categoryId": 1, "status": "sold", "version": {version},
                "createdAt": null, "updatedAt": {updated_at}, "orderId": null, "withdrawn": null, "fields": {{}},
                "photos": [], "listed": true}}"#
        )
    }

    /// The response to a read of an animal of the store area.
    fn store_response(status: u16, headers: &[(&'static str, &str)], body: &str) {
        response_to(&Method::GET, "/v1/store/pets/1", status, headers, body);
    }

    const TAG: (&str, &str) = ("etag", r#""7""#);

    #[test]
    fn a_response_of_the_store_area_is_compared_with_its_document() {
        store_response(
            200,
            &[TAG],
            &store_pet("7", r#""2026-11-22T10:00:00.000Z""#),
        );
        let not_found = r#"{"code": "not_found", "message": "", "status": 404}"#;
        store_response(404, &[], not_found);
        response_to(&Method::GET, "/v1/store", 404, &[], not_found);
        response_to(&Method::DELETE, "/v1/store/categories/1", 204, &[], "");
    }

    #[test]
    #[should_panic(expected = "is not as declared")]
    fn a_member_of_the_wrong_type_fails_in_the_store_area() {
        store_response(200, &[TAG], &store_pet("null", "null"));
    }

    #[test]
    #[should_panic(expected = "is not as declared")]
    fn a_time_that_is_no_time_fails_in_the_store_area() {
        store_response(200, &[TAG], &store_pet("7", r#""yesterday""#));
    }

    #[test]
    #[should_panic(expected = "is not as declared")]
    fn a_weak_tag_of_one_animal_fails_in_the_store_area() {
        store_response(200, &[], &store_pet("7", "null"));
    }

    #[test]
    #[should_panic(expected = "is not as declared")]
    fn a_response_of_the_contract_fails_in_the_store_area() {
        store_response(
            200,
            &[TAG],
            r#"{"id": 1, "name": "a", "categoryId": 1, "status": "sold"}"#,
        );
    }

    #[test]
    #[should_panic(expected = "undeclared code gone")]
    fn an_undeclared_code_fails_in_the_store_area() {
        store_response(
            404,
            &[],
            r#"{"code": "gone", "message": "", "status": 404}"#,
        );
    }
}
