//! `runBatch`: `POST /v1/store/batch`.

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{Command, PetPatch, Preconditions},
};
use petstore_formats::json::{self, AddPet, PlaceOrder};
use petstore_web::edge::{ApiError, Response};
use serde_json::value::RawValue;

use super::{
    members::{Body, CommandName, Members, RequiredVersion, invalid},
    order_acts::OrderAct,
    orders,
    pets::WithdrawPet,
    shared::StoreArea,
    subjects, wire,
    write::{CommandIndex, Write},
};
use crate::{access::rate_limit, context::Call};

/// The maximum number of commands in a batch.
const MAX_COMMANDS: u32 = 100;

/// The members that every command on an animal can have.
const MEMBERS_FOR_PET: [&str; 3] = ["command", "petId", "ifMatch"];

/// The members that every command on an order can have.
const MEMBERS_FOR_ORDER: [&str; 3] = ["command", "orderId", "ifMatch"];

/// The message for a command with an unknown name.
const UNKNOWN_COMMAND: &str = "command must be one of addPet, patchPet, withdrawPet, restorePet, placeOrder, \
     completeOrder, cancelOrder, returnOrder and reopenOrder.";

/// Runs the commands of a batch in one transaction, so that either all of them take effect or none. Each
/// command counts against the rate limit of the key.
pub(crate) async fn run_batch(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let caller = call.caller;
    let write = Write::read_with_key(area, call).await?;
    let elements = json::parse_elements(&write.body)?;
    let element_count = elements.len();
    // A number above the range of u32 is also above the limit.
    let command_count = u32::try_from(element_count).unwrap_or(u32::MAX);
    if !(1..=MAX_COMMANDS).contains(&command_count) {
        let message =
            format!("A batch must have 1 to {MAX_COMMANDS} commands, but has {element_count}.");
        return Err(invalid(message));
    }
    let mut commands = Vec::with_capacity(element_count);
    for (index, element) in elements.into_iter().enumerate() {
        let command = parse_command(area, element, &write);
        commands.push(command.map_err(|error| error.with_index(index))?);
    }
    if let Some(caller) = caller {
        *write.rate = area.app.keys.take_commands(caller, command_count);
        rate_limit::check_commands(*write.rate, command_count)?;
    }
    write
        .execute_all(area, commands, wire::all_results, CommandIndex::Show)
        .await
}

/// Parses one command of a batch. Its name decides which other members it has.
///
/// A command that reserves an animal ends the reservation some time after `write.now`, if the
/// client gives no end.
fn parse_command(
    area: &StoreArea,
    element: &RawValue,
    write: &Write<'_>,
) -> Result<Command, ApiError> {
    let members = Members::parse_with_any_names(element.get().as_bytes(), "The command")?;
    let CommandName(name) = members.required("command")?;
    match &*name {
        "addPet" => parse_add_pet(&members),
        "patchPet" => parse_patch_pet(&members),
        "withdrawPet" => parse_withdraw_pet(&members),
        "restorePet" => parse_restore_pet(&members),
        "placeOrder" => parse_place_order(area, &members, write.now),
        "completeOrder" => parse_order_act(area, &members, OrderAct::Complete, write.now),
        "cancelOrder" => parse_order_act(area, &members, OrderAct::Cancel, write.now),
        "returnOrder" => parse_order_act(area, &members, OrderAct::Return, write.now),
        "reopenOrder" => parse_order_act(area, &members, OrderAct::Reopen, write.now),
        _ => Err(invalid(UNKNOWN_COMMAND)),
    }
}

/// Parses `addPet`.
fn parse_add_pet(members: &Members<'_>) -> Result<Command, ApiError> {
    check_members(members, &["command"], AddPet::NAMES)?;
    let (pet, fields) = members.read::<AddPet>()?.into_pet()?;
    // A client adds photos later, with `addPhoto`.
    Ok(Command::AddPet(pet, fields, Vec::new()))
}

/// Parses `patchPet`.
fn parse_patch_pet(members: &Members<'_>) -> Result<Command, ApiError> {
    check_members(members, &MEMBERS_FOR_PET, PetPatch::NAMES)?;
    let patch = members.read()?;
    Ok(Command::PatchPet {
        preconditions: preconditions(members)?,
        patch,
        id: pet_id(members)?,
    })
}

/// Parses `withdrawPet`.
fn parse_withdraw_pet(members: &Members<'_>) -> Result<Command, ApiError> {
    check_members(members, &MEMBERS_FOR_PET, WithdrawPet::NAMES)?;
    let WithdrawPet { reason, note } = members.read()?;
    Ok(Command::WithdrawPet {
        preconditions: preconditions(members)?,
        id: pet_id(members)?,
        reason,
        note,
    })
}

/// Parses `restorePet`.
fn parse_restore_pet(members: &Members<'_>) -> Result<Command, ApiError> {
    check_members(members, &MEMBERS_FOR_PET, &[])?;
    Ok(Command::RestorePet {
        preconditions: preconditions(members)?,
        id: pet_id(members)?,
    })
}

/// Parses a command that places an order at `now`.
fn parse_place_order(
    area: &StoreArea,
    members: &Members<'_>,
    now: Timestamp,
) -> Result<Command, ApiError> {
    check_members(members, &["command"], PlaceOrder::NAMES)?;
    let new_order = orders::read_new_order(area, members, now)?;
    Ok(Command::PlaceOrder(new_order))
}

/// Parses a command that closes or reopens an order at `now`.
fn parse_order_act(
    area: &StoreArea,
    members: &Members<'_>,
    act: OrderAct,
    now: Timestamp,
) -> Result<Command, ApiError> {
    check_members(members, &MEMBERS_FOR_ORDER, act.member_names())?;
    let order_number: i64 = members.required("orderId")?;
    let preconditions = preconditions(members)?;
    let body = act.parse_body(members)?;
    // The id comes last, because a client should first learn of an invalid command.
    let id = subjects::order_id(order_number)?;
    let default_end = || area.app.commands.default_end(now);
    Ok(body.into_command(id, preconditions, default_end))
}

/// Checks that a command has only members in `common_names` and `names`.
fn check_members(
    members: &Members<'_>,
    common_names: &[&str],
    names: &[&str],
) -> Result<(), ApiError> {
    members.check_names(&[common_names, names].concat())?;
    Ok(())
}

/// Parses the id of the animal that a command concerns.
fn pet_id(members: &Members<'_>) -> Result<PetId, ApiError> {
    subjects::pet_id(members.required("petId")?)
}

/// Parses the precondition `ifMatch`: the version that the animal or order must have.
fn preconditions(members: &Members<'_>) -> Result<Preconditions, ApiError> {
    let version: Option<RequiredVersion> = members.optional("ifMatch")?;
    Ok(Preconditions {
        if_match: version.map(|RequiredVersion(if_match)| if_match),
        if_absent: false,
    })
}
