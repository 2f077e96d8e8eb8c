//! What the code declares of bodies and resources, put into the schemas of the document of the store area: their
//! members, in this order, which of them a body must have, which can be null, and what their types say.

use std::collections::{BTreeMap, BTreeSet};

use petstore_formats::json::declared::{DeclaredMember, DeclaredObject};
use serde_json::{Map, Value, json};

/// The keywords of a schema before all others.
const FIRST_KEYWORDS: [&str; 3] = ["type", "format", "description"];

/// The keywords that a resource promises of a member without a named schema. A later release may send longer texts.
const PROMISED_KEYWORDS: [&str; 2] = ["type", "format"];

/// Completes each schema with a `body` or a `resource`, and the schemas that their members have.
pub(super) fn put_declared(
    document: &mut Value,
    bodies: &[DeclaredObject],
    resources: &[DeclaredObject],
) {
    let usual = document
        .as_object_mut()
        .unwrap()
        .shift_remove("members")
        .unwrap();
    let schemas = document["components"]["schemas"].as_object_mut().unwrap();
    let mut completion = Completion {
        usual: usual.as_object().unwrap(),
        nullable: take_nullable(schemas),
        keywords: BTreeMap::new(),
        used_names: BTreeSet::new(),
    };
    completion.complete_all(schemas, Kind::Body, bodies);
    completion.complete_all(schemas, Kind::Resource, resources);

    for name in completion.usual.keys() {
        assert!(
            completion.used_names.contains(name),
            "members: no body needs {name}"
        );
    }
    for (name, keywords) in &completion.keywords {
        let schema = schemas
            .get_mut(name)
            .unwrap_or_else(|| panic!("no schema is named {name}"));
        let is_nullable = completion.nullable.contains(name);
        *schema = with_keywords(name, schema, keywords, is_nullable);
    }
    let without = completion
        .nullable
        .iter()
        .find(|name| !completion.keywords.contains_key(*name));
    assert_eq!(without, None, "no member has this nullable schema");
}

/// Removes `nullable` from all schemas, and returns the names of those that had it.
fn take_nullable(schemas: &mut Map<String, Value>) -> BTreeSet<String> {
    let mut nullable = BTreeSet::new();
    for (name, schema) in schemas {
        if schema
            .as_object_mut()
            .unwrap()
            .shift_remove("nullable")
            .is_some()
        {
            nullable.insert(name.clone());
        }
    }
    nullable
}

/// The kind of a declared object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What a client sends: only these members.
    Body,
    /// What a client gets: all of these members, and perhaps others in a later release.
    Resource,
}

impl Kind {
    /// Returns the short form that names the declaration of a schema.
    fn short_form(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Resource => "resource",
        }
    }
}

/// The work on all schemas.
struct Completion<'d> {
    /// The schemas of members whose body does not say another one.
    usual: &'d Map<String, Value>,
    /// The named schemas that allow null.
    nullable: BTreeSet<String>,
    /// What the code says of the named schemas that members have.
    keywords: BTreeMap<String, Value>,
    /// The members that got their usual schema.
    used_names: BTreeSet<String>,
}

impl Completion<'_> {
    /// Completes all schemas of a kind. Each declaration must have one.
    fn complete_all(
        &mut self,
        schemas: &mut Map<String, Value>,
        kind: Kind,
        objects: &[DeclaredObject],
    ) {
        let short_form = kind.short_form();
        let mut used_names = BTreeSet::new();
        for (name, schema) in schemas.iter_mut() {
            let members = schema.as_object_mut().unwrap();
            let Some(Value::String(object)) = members.shift_remove(short_form) else {
                continue;
            };
            let declared = objects.iter().find(|declared| declared.name == object);
            let declared =
                declared.unwrap_or_else(|| panic!("{name}: no {short_form} is named {object}"));
            used_names.insert(declared.name);
            *schema = self.object(name, kind, declared, schema);
        }
        for object in objects {
            let name = object.name;
            assert!(
                used_names.contains(name),
                "no schema is that of the {short_form} {name}"
            );
        }
    }

    /// Returns the schema of an object. Members by hand that the code does not declare come first.
    fn object(
        &mut self,
        name: &str,
        kind: Kind,
        declared: &DeclaredObject,
        by_hand: &Value,
    ) -> Value {
        let mut rest = by_hand.as_object().unwrap().clone();
        let mut members = rest.shift_remove("properties").unwrap_or(json!({}));
        let members = members.as_object_mut().unwrap();
        let mut required = match rest.shift_remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };

        let mut declared_members = Map::new();
        for member in &declared.members {
            let path = format!("{name}.{}", member.name);
            let by_hand = members.shift_remove(member.name);
            let schema = by_hand.unwrap_or_else(|| self.usual_schema(&path, kind, member.name));
            let schema = self.member(&path, kind, member, schema);
            declared_members.insert(member.name.to_owned(), schema);
            if member.is_required {
                required.push(member.name.into());
            }
        }
        assert!(
            kind == Kind::Body || members.is_empty(),
            "{name} has none of {members:?}"
        );
        members.append(&mut declared_members);

        object_schema(kind, rest, required, std::mem::take(members))
    }

    fn usual_schema(&mut self, path: &str, kind: Kind, name: &str) -> Value {
        assert!(kind == Kind::Body, "{path} has no schema");
        self.used_names.insert(name.to_owned());
        let schema = self.usual.get(name);
        schema
            .unwrap_or_else(|| panic!("{path} has no schema, here or below members"))
            .clone()
    }

    /// Returns the schema of a member: the one by hand, with what the code says.
    fn member(&mut self, path: &str, kind: Kind, member: &DeclaredMember, by_hand: Value) -> Value {
        let Some(name) = named_schema(&by_hand) else {
            let mut keywords = member.keywords.clone();
            if kind == Kind::Resource {
                let all = keywords.as_object_mut().unwrap();
                all.retain(|keyword, _| PROMISED_KEYWORDS.contains(&keyword.as_str()));
            }
            return with_keywords(path, &by_hand, &keywords, member.is_nullable);
        };
        let known = self
            .keywords
            .entry(name.clone())
            .or_insert_with(|| member.keywords.clone());
        assert_eq!(
            *known, member.keywords,
            "{name} of {path} and another member"
        );

        match (member.is_nullable, self.nullable.contains(&name)) {
            (true, false) => json!({ "oneOf": [name, null] }),
            (false, true) => panic!("{path} cannot be null, and {name} can"),
            _ => by_hand,
        }
    }
}

/// Returns the schema of an object with these members, and what else is by hand.
fn object_schema(
    kind: Kind,
    mut rest: Map<String, Value>,
    required: Vec<Value>,
    members: Map<String, Value>,
) -> Value {
    let mut schema = json!({ "type": "object", "description": rest.shift_remove("description") });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["properties"] = members.into();
    if kind == Kind::Body {
        schema["additionalProperties"] = false.into();
    }
    schema.as_object_mut().unwrap().append(&mut rest);
    schema
}

/// Returns the name of the schema to which this one refers, alone or with a default or a description.
fn named_schema(schema: &Value) -> Option<String> {
    let reference = schema.pointer("/allOf/0/$ref").or(schema.pointer("/$ref"));
    let reference = reference.and_then(Value::as_str);
    let name = reference.and_then(|path| path.strip_prefix("#/components/schemas/"));
    name.or(schema.as_str()).map(str::to_owned)
}

/// Returns a schema with these keywords. None of them may be there by hand.
fn with_keywords(path: &str, by_hand: &Value, keywords: &Value, is_nullable: bool) -> Value {
    let mut all = Map::new();
    for (keyword, value) in keywords.as_object().unwrap() {
        all.insert(keyword.clone(), value.clone());
    }
    if is_nullable {
        all.insert("type".to_owned(), json!([all["type"], "null"]));
        if let Some(Value::Array(words)) = all.get_mut("enum") {
            words.push(Value::Null);
        }
    }
    for (keyword, value) in by_hand.as_object().unwrap() {
        let former = all.insert(keyword.clone(), value.clone());
        assert_eq!(
            former, None,
            "{path}: {keyword} follows from the code; remove it"
        );
    }

    let mut schema = Map::new();
    for keyword in FIRST_KEYWORDS {
        schema.extend(
            all.shift_remove(keyword)
                .map(|value| (keyword.to_owned(), value)),
        );
    }
    schema.append(&mut all);
    schema.into()
}
