//! Actors as JSON, such as `{"kind":"staff","id":2,"name":"Nora"}`.

use std::sync::Arc;

use petstore_domain::{Actor, NamedActor};
use serde_json::value::RawValue;

use super::{
    Object, as_string,
    members::{Members, values},
};

/// The kind of an actor, such as `staff`.
struct ActorKind(String);

/// The name of an actor.
struct ActorName(String);

values! {
    ActorKind: "a string", |value| as_string(value).map(Self);
    ActorName: "a string without U+0000", |value| as_string(value).filter(|name| !name.contains('\0')).map(Self);
}

/// Writes an actor, with the name that it had when it acted.
pub(super) fn write_actor(out: &mut Vec<u8>, named_actor: &NamedActor) {
    let actor = named_actor.actor;
    let mut object = Object::begin(out);
    object.text("kind", actor.kind());
    object.put("id", &actor.id());
    object.text_or_null("name", named_actor.name.as_deref());
    object.end();
}

/// Reads an actor that [`write_actor`] wrote. Returns `None` for any other value.
pub(super) fn read_actor(value: &RawValue) -> Option<NamedActor> {
    let names = ["kind", "id", "name"];
    let members = Members::parse(value.get().as_bytes(), "The actor", &names).ok()?;
    let kind: ActorKind = members.required("kind").ok()?;
    let id: Option<i64> = members.nullable("id").ok()?;
    let name: Option<ActorName> = members.nullable("name").ok()?;
    Some(NamedActor {
        actor: Actor::from_kind_and_id(&kind.0, id)?,
        name: name.map(|name| Arc::from(name.0)),
    })
}
