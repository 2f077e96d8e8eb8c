//! Actors as JSON, such as `{"kind":"staff","id":2,"name":"Nora"}`.

use std::sync::Arc;

use petstore_domain::{Actor, NamedActor};
use serde_json::value::RawValue;

use super::{
    Object,
    members::{Members, values},
    string,
};

/// Writes an actor, with the name that it had.
pub(super) fn write_actor(out: &mut Vec<u8>, named_actor: &NamedActor) {
    let actor = named_actor.actor;
    let mut object = Object::begin(out);
    object.text("kind", actor.kind());
    object.or_null("id", actor.id(), |object, id| object.integer("id", id));
    object.text_or_null("name", named_actor.name.as_deref());
    object.end();
}

/// Reads an actor that [`write_actor`] has written. `None` for another object.
pub(super) fn read_actor(value: &RawValue) -> Option<NamedActor> {
    let names = ["kind", "id", "name"];
    let members = Members::parse(value.get().as_bytes(), "The actor", &names).ok()?;
    let kind: KindOfActor = members.required("kind").ok()?;
    let id: Option<i64> = members.nullable("id").ok()?;
    let name: Option<ActorName> = members.nullable("name").ok()?;
    Some(NamedActor {
        actor: Actor::from_kind_and_id(&kind.0, id)?,
        name: name.map(|name| Arc::from(name.0)),
    })
}

/// The kind of an actor, such as "staff".
struct KindOfActor(String);

/// The name of an actor.
struct ActorName(String);

values! {
    KindOfActor: "a string", |value| string(value).map(Self);
    ActorName: "a string without U+0000", |value| string(value).filter(|name| !name.contains('\0')).map(Self);
}
