//! The commands of histories as those of the service.

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName,
    store_area::{
        Change, ChangeType, Command as Asked, FieldValue, FieldValues, IfMatch, NewOrder, Note,
        OrderId, OrderPatch, OrderTerms, Patch, PetPatch, Photos, Preconditions, Reference,
        RequestedValue, Reversal, StorePet, Withdrawal,
    },
};

use super::{
    history,
    store_area::{Command, Content},
};

/// The animal of a change, as the log has it.
fn pet_of(id: PetId, content: &Content, version: i64) -> StorePet {
    let withdrawal = content.withdrawn.as_ref().map(|reason| Withdrawal {
        at: Timestamp::UNIX_EPOCH,
        reason: reason.parse().unwrap(),
        note: None,
    });
    let breed = content.breed.clone();
    let fields = breed.map(|breed| ("breed".to_owned(), FieldValue::Text(breed)));
    StorePet {
        id,
        name: PetName::new(content.name.clone()).unwrap(),
        category_id: content.category_id,
        status: content.status.parse().unwrap(),
        version,
        created_at: None,
        updated_at: None,
        order_id: None,
        withdrawal,
        fields: FieldValues::new(fields.into_iter().collect()).unwrap(),
        photos: Photos::NONE,
        is_listed: true,
    }
}

/// The command, and the time at which it comes; `None` for a read.
#[expect(clippy::too_many_lines, reason = "one arm for each command")]
pub(super) fn asked(command: &Command) -> Option<(Asked, Timestamp)> {
    let pet = |id: &i64| PetId::new(*id).unwrap();
    let order = |id: &i64| OrderId::new(*id).unwrap();
    let if_match = |version: Option<i64>| {
        let any = Preconditions {
            if_match: Some(IfMatch::Any),
            if_absent: false,
        };
        version.map_or(any, Preconditions::version)
    };
    let time = |text: &String| text.parse::<Timestamp>().unwrap();
    let mut now = Timestamp::from_second(1_795_000_000).unwrap();
    let (reason, preconditions) = (None, command.version().map(Preconditions::version));
    let preconditions = preconditions.unwrap_or_default();
    let asked = match command {
        Command::ReadPet { .. } | Command::ReadOrder { .. } => return None,
        Command::PatchPet {
            id,
            version,
            patch:
                history::Patch {
                    name,
                    category_id,
                    status,
                },
        } => {
            let value = |name: &String| RequestedValue::Set(FieldValue::Text(name.clone()));
            let patch = PetPatch {
                name: name.clone().map(|name| PetName::new(name).unwrap()),
                category_id: *category_id,
                status: status.map(|status| status.parse().unwrap()),
                fields: name
                    .iter()
                    .map(|name| ("breed".to_owned(), value(name)))
                    .collect(),
                is_listed: None,
            };
            Asked::PatchPet {
                id: pet(id),
                patch,
                preconditions: if_match(*version),
            }
        }
        Command::Withdraw {
            id,
            version,
            reason,
        } => Asked::WithdrawPet {
            id: pet(id),
            reason: reason.parse().unwrap(),
            note: None,
            preconditions: if_match(*version),
        },
        Command::Restore { id, version } => Asked::RestorePet {
            id: pet(id),
            preconditions: if_match(*version),
        },
        Command::Place {
            pet_id,
            note,
            until,
        } => {
            let until = until.as_ref().map(time);
            Asked::PlaceOrder(NewOrder {
                note: Note::new(note.clone()),
                ..NewOrder::new(
                    pet(pet_id),
                    until.map_or(OrderTerms::Completed, OrderTerms::ReservedUntil),
                )
            })
        }
        Command::PatchOrder {
            id,
            version,
            reference,
            until,
        } => {
            let set = |text: &String| Patch::Set(Reference::new(text.clone()).unwrap());
            let patch = OrderPatch {
                reference: reference.as_ref().map_or(Patch::Keep, set),
                expires_at: until.as_ref().map(time),
                ..OrderPatch::default()
            };
            Asked::PatchOrder {
                id: order(id),
                patch,
                preconditions: if_match(*version),
            }
        }
        Command::Complete { id, .. } => Asked::CompleteOrder {
            id: order(id),
            price: Patch::Keep,
            preconditions,
        },
        Command::Cancel { id, .. } => Asked::CancelOrder {
            id: order(id),
            reason,
            preconditions,
        },
        Command::Return { id, .. } => Asked::ReturnOrder {
            id: order(id),
            reason,
            preconditions,
        },
        Command::Reopen { id, until, .. } => {
            let end = time(until);
            Asked::ReopenOrder {
                id: order(id),
                expires_at: Some(end),
                default_end: end,
                preconditions,
            }
        }
        Command::Revert {
            id,
            version,
            before,
            after,
            ..
        } => {
            let [before, after] = [(before, version - 1), (after, *version)]
                .map(|(content, version)| pet_of(pet(id), content, version));
            let change = Change {
                kind: ChangeType::PetChanged,
                before: Some(before.into()),
                after: Some(after.into()),
            };
            let mut reversals = Reversal::from_act(&[change], now, now).unwrap();
            Asked::Revert(reversals.remove(0))
        }
        Command::Expire { id, at } => {
            now = time(at);
            Asked::ExpireOrder { id: order(id) }
        }
    };
    Some((asked, now))
}
