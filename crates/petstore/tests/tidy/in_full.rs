//! The document of the store area in full: what `openapi-store.source.yaml` says, with what all
//! operations, responses and references have. The head of that file describes its short forms.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The header fields of every response.
const OF_ALL: [(&str, &str); 3] = [
    ("Cache-Control", "CacheControl"),
    ("X-Content-Type-Options", "ContentTypeOptions"),
    ("X-Request-Id", "RequestId"),
];

/// The header fields of every response that is no error, before those of all.
const OF_SUCCESSES: [(&str, &str); 2] = [
    ("RateLimit", "RateLimit"),
    ("RateLimit-Policy", "RateLimitPolicy"),
];

/// The document in full.
pub(super) fn in_full(mut document: Value) -> Value {
    let samples = document
        .as_object_mut()
        .unwrap()
        .shift_remove("samples")
        .unwrap();
    put_samples(&mut document, &samples);
    let operations = Operations::of(&document);
    let mut uses: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object_mut().unwrap() {
        for (method, operation) in methods.as_object_mut().unwrap() {
            if method == "parameters" {
                continue;
            }
            add_responses(method, operation);
            add_scope(operation);
            for (status, response) in operation["responses"].as_object_mut().unwrap() {
                if let Some(name) = response.as_str() {
                    uses.insert(name.to_owned(), (status.clone(), variables(path)));
                } else {
                    complete(response, status, &operations, &variables(path));
                }
            }
            if let Some(body) = operation.get_mut("requestBody") {
                put_content(body);
            }
        }
    }
    let components = &mut document["components"];
    for (name, response) in components["responses"].as_object_mut().unwrap() {
        let (status, variables) = uses
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no use"));
        complete(response, status, &operations, variables);
    }
    for (_, body) in components["requestBodies"].as_object_mut().unwrap() {
        put_content(body);
    }
    put_references(&mut document);
    document
}

/// Puts the samples where they are named, with the members beside the name.
fn put_samples(value: &mut Value, samples: &Value) {
    if let Some(name) = value.get("sample") {
        let mut sample = samples[name.as_str().unwrap()].clone();
        assert!(sample.is_object(), "no sample is named {name}");
        for (member, other) in value.as_object().unwrap().iter().skip(1) {
            sample[member] = other.clone();
        }
        *value = sample;
    }
    for within in children(value) {
        put_samples(within, samples);
    }
}

/// The values directly in a value.
fn children(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect(),
        _ => vec![],
    }
}

/// The names of the variables in a path.
fn variables(path: &str) -> Vec<String> {
    let named = path.split('{').skip(1);
    named
        .map(|rest| rest.split('}').next().unwrap().to_owned())
        .collect()
}

/// What links need to know of the operations.
struct Operations {
    /// The variables in the path of each operation.
    variables: BTreeMap<String, Vec<String>>,
    /// Those that need `If-Match`.
    conditional: BTreeSet<String>,
}

impl Operations {
    fn of(document: &Value) -> Self {
        let mut all = Self {
            variables: BTreeMap::new(),
            conditional: BTreeSet::new(),
        };
        for (path, methods) in document["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values() {
                if let Some(id) = operation.get("operationId") {
                    let id = id.as_str().unwrap().to_owned();
                    if has(operation, "IfMatch") {
                        all.conditional.insert(id.clone());
                    }
                    all.variables.insert(id, variables(path));
                }
            }
        }
        all
    }

    /// The link of this name in a response of an operation with these variables in its path. What
    /// the path does not have, the body of the response has.
    fn link(&self, name: &str, description: &Value, in_path: &[String]) -> Value {
        let id = name[..1].to_lowercase() + &name[1..];
        let mut link = json!({ "operationId": id, "description": description });
        let wanted = self
            .variables
            .get(&id)
            .unwrap_or_else(|| panic!("no operation is {id}"));
        let mut parameters = Map::new();
        for variable in wanted {
            let source = if in_path.contains(variable) {
                format!("$request.path.{variable}")
            } else {
                "$response.body#/id".to_owned()
            };
            parameters.insert(variable.clone(), source.into());
        }
        if self.conditional.contains(&id) {
            parameters.insert("If-Match".to_owned(), "$response.header.ETag".into());
        }
        if !parameters.is_empty() {
            link["parameters"] = parameters.into();
        }
        link
    }
}

/// Whether an operation has this parameter.
fn has(operation: &Value, parameter: &str) -> bool {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    parameters.is_some_and(|parameters| parameters.iter().any(|name| name == parameter))
}

/// Adds the responses that follow from what an operation is.
fn add_responses(method: &str, operation: &mut Value) {
    let (forbidden, unavailable) = (
        match operation["x-scope"].as_str().unwrap() {
            "store:read" => "InsufficientScopeToRead",
            "store:write" => "InsufficientScopeToWrite",
            _ => "InsufficientScopeToAdminister",
        },
        if method == "get" {
            "UnavailableRead"
        } else {
            "UnavailableWrite"
        },
    );
    let mut all = Map::new();
    let mut add = |status: &str, name: &str| all.insert(status.to_owned(), name.into());
    add("401", "Unauthorized");
    add("403", forbidden);
    add("429", "RateLimited");
    add("431", "HeadTooLarge");
    add("500", "Internal");
    add("503", unavailable);
    if let Some(body) = operation.get("requestBody") {
        add("408", "BodyTimeout");
        add("413", "BodyTooLarge");
        let is_patch = body
            .pointer("/content/application~1merge-patch+json")
            .is_some();
        add(
            "415",
            if is_patch {
                "UnsupportedPatchType"
            } else {
                "UnsupportedMediaType"
            },
        );
    }
    if has(operation, "IdempotencyKey") || has(operation, "RequiredIdempotencyKey") {
        add("409", "IdempotencyInProgress");
        add("422", "IdempotencyConflict");
    }
    if has(operation, "IfMatch") {
        add("428", "PreconditionRequired");
    }
    if has(operation, "IfNoneMatch") {
        let headers = &operation["responses"]["200"]["headers"];
        let unchanged = match (headers["ETag"].as_str().unwrap(), headers.get("Link")) {
            ("VersionTag", _) => "ResourceNotModified",
            (_, Some(_)) => "PageNotModified",
            (_, None) => "ContentNotModified",
        };
        add("304", unchanged);
    }
    let responses = operation["responses"].as_object_mut().unwrap();
    all.extend(std::mem::take(responses));
    all.sort_keys();
    *responses = all;
}

/// Adds the scope to the description of an operation that needs more than the least.
fn add_scope(operation: &mut Value) {
    let (scope, description) = (
        &operation["x-scope"],
        operation["description"].as_str().unwrap(),
    );
    let sentence = format!("Needs a key with the scope `{}`", scope.as_str().unwrap());
    if scope != "store:read" && !description.contains(&sentence) {
        assert!(
            description.ends_with('\n'),
            "no block of text: {description}"
        );
        operation["description"] = format!("{description}\n{sentence}.\n").into();
    }
}

/// Completes a response with its header fields, its content and its links.
fn complete(response: &mut Value, status: &str, operations: &Operations, in_path: &[String]) {
    let is_error = status >= "400";
    let response = response.as_object_mut().unwrap();
    let mut headers = match response.shift_remove("headers") {
        Some(Value::Object(headers)) => headers,
        _ => Map::new(),
    };
    let of_successes = if is_error { &[][..] } else { &OF_SUCCESSES };
    for (field, name) in of_successes.iter().chain(&OF_ALL) {
        headers.insert((*field).to_owned(), (*name).into());
    }
    let errors = response.shift_remove("errors");
    let links = response.shift_remove("links");
    let mut all = Map::new();
    all.insert(
        "description".to_owned(),
        response.shift_remove("description").unwrap(),
    );
    all.insert("headers".to_owned(), headers.into());
    all.append(response);
    if let Some(Value::Object(errors)) = errors {
        let schema = all.shift_remove("schema").unwrap_or("Error".into());
        all.insert("schema".to_owned(), schema);
        all.insert("examples".to_owned(), examples_of(errors, status));
    }
    let mut all = Value::Object(all);
    put_content(&mut all);
    if let Some(Value::Object(mut links)) = links {
        for (name, link) in &mut links {
            if link.is_string() {
                *link = operations.link(name, link, in_path);
            }
        }
        all["links"] = links.into();
    }
    *response = std::mem::take(all.as_object_mut().unwrap());
}

/// The examples of an error: a body for each.
fn examples_of(mut errors: Map<String, Value>, status: &str) -> Value {
    if status == "400" {
        let example = |name| json!({ "$ref": name });
        errors
            .entry("unknown_parameter")
            .or_insert(example("unknown_parameter_none"));
        errors
            .entry("invalid_request")
            .or_insert(example("invalid_request"));
    }
    for (code, error) in &mut errors {
        if error.get("$ref").is_some() {
            continue;
        }
        let mut rest = match error.take() {
            Value::Object(members) => members,
            message => Map::from_iter([("message".to_owned(), message)]),
        };
        let summary = rest.shift_remove("summary");
        let mut body = Map::new();
        body.insert(
            "code".to_owned(),
            rest.shift_remove("code").unwrap_or(code.clone().into()),
        );
        body.insert("message".to_owned(), rest.shift_remove("message").unwrap());
        body.insert("status".to_owned(), status.parse::<u16>().unwrap().into());
        body.append(&mut rest);
        *error = match summary {
            Some(summary) => json!({ "summary": summary, "value": body }),
            None => json!({ "value": body }),
        };
    }
    errors.into()
}

/// Makes the schema and the examples of a response or a request body those of its JSON.
fn put_content(value: &mut Value) {
    let Some(members) = value
        .as_object_mut()
        .filter(|members| members.contains_key("schema"))
    else {
        return;
    };
    let mut content = Map::new();
    for name in ["schema", "examples"] {
        content.extend(
            members
                .shift_remove(name)
                .map(|within| (name.to_owned(), within)),
        );
    }
    members.insert("content".to_owned(), json!({ "application/json": content }));
}

/// Puts a reference in place of each name, and gives each example its `value`.
fn put_references(value: &mut Value) {
    let Value::Object(members) = value else {
        children(value).into_iter().for_each(put_references);
        return;
    };
    for (key, within) in members {
        match (key.as_str(), &mut *within) {
            ("requestBody", name) => put_reference(name, "requestBodies"),
            ("schema" | "items" | "additionalProperties", name) => put_reference(name, "schemas"),
            ("headers" | "responses", Value::Object(named)) => {
                named.values_mut().for_each(|name| put_reference(name, key));
            }
            ("parameters", Value::Array(names)) => {
                for name in names {
                    put_reference(name, key);
                }
            }
            ("oneOf", Value::Array(names)) => {
                for name in names {
                    put_reference(name, "schemas");
                }
            }
            ("properties", Value::Object(named)) => {
                for schema in named.values_mut() {
                    put_reference(schema, "schemas");
                    put_references(schema);
                }
                continue;
            }
            ("examples", Value::Object(named)) => {
                named.values_mut().for_each(put_example);
                continue;
            }
            ("example" | "examples", _) => continue,
            _ => {}
        }
        put_references(within);
    }
}

/// Puts a reference to a component of this kind in place of a name. Null is the schema of null.
fn put_reference(value: &mut Value, kind: &str) {
    match value {
        Value::String(name) => *value = json!({ "$ref": format!("#/components/{kind}/{name}") }),
        Value::Null => *value = json!({ "type": "null" }),
        _ => {}
    }
}

/// Makes an example of its value, or of the name of another example.
fn put_example(example: &mut Value) {
    if let Some(name) = example.get_mut("$ref") {
        put_reference(name, "examples");
        *example = name.take();
    } else if example.get("value").is_none() {
        *example = json!({ "value": example });
    }
}
