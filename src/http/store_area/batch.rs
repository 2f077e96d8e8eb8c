//! `runBatch`: `POST /v1/store/batch`.

use serde_json::value::RawValue;

use super::{
    members::{COMMAND, IF_MATCH, INTEGER, Members, NAME, PET_STATUS, REASON},
    orders, pets, wire,
    write::{self, Write},
};
use crate::{
    domain::{
        NewPet,
        store_area::{Command, Preconditions},
    },
    http::{App, Response, error::ApiError, routes::Call},
    json,
};

/// How many commands a batch has at most.
const MAX_COMMANDS: usize = 100;

pub(crate) async fn run(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read_with_key(app, call).await?;
    let elements = json::elements(&write.body)?;
    if elements.is_empty() || elements.len() > MAX_COMMANDS {
        let message =
            format!("A batch must have 1 to {MAX_COMMANDS} commands, but has {}.", elements.len());
        return Err(super::members::invalid(message));
    }
    let mut commands = Vec::with_capacity(elements.len());
    for (index, element) in elements.into_iter().enumerate() {
        let command = parse(app, element, &write);
        commands.push(command.map_err(|error| error.at(index))?);
    }
    write.execute_all(app, commands, wire::all, Some).await
}

fn parse(app: &App, element: &RawValue, write: &Write<'_>) -> Result<Command, ApiError> {
    let members = Members::any(element.get().as_bytes(), "The command")?;
    let command = members.required("command", &COMMAND)?;
    let check = |names: &[&str]| members.check(&[&["command"], names].concat());
    let with_pet = |names: &[&str]| check(&[&["petId", "ifMatch"], names].concat());
    let pet_id = || write::pet_id(Some(members.required("petId", &INTEGER)?));
    let order_id = || write::order_id(Some(members.required("orderId", &INTEGER)?));
    let preconditions = || -> Result<_, ApiError> {
        Ok(Preconditions { if_match: members.optional("ifMatch", &IF_MATCH)?, if_absent: false })
    };
    let reason = || members.optional("reason", &REASON);
    match &*command {
        "addPet" => {
            check(&pets::PATCH)?;
            Ok(Command::AddPet(NewPet {
                name: members.required("name", &NAME)?,
                category_id: members.required("categoryId", &INTEGER)?,
                status: members.optional("status", &PET_STATUS)?.unwrap_or_default(),
            }))
        }
        "patchPet" => {
            with_pet(&pets::PATCH)?;
            let patch = pets::patch(&members)?;
            Ok(Command::PatchPet { preconditions: preconditions()?, patch, id: pet_id()? })
        }
        "withdrawPet" => {
            with_pet(&pets::WITHDRAWAL)?;
            let (reason, note) = pets::withdrawal(&members)?;
            let preconditions = preconditions()?;
            Ok(Command::WithdrawPet { id: pet_id()?, reason, note, preconditions })
        }
        "restorePet" => {
            with_pet(&[])?;
            Ok(Command::RestorePet { preconditions: preconditions()?, id: pet_id()? })
        }
        "placeOrder" => {
            check(&orders::NEW)?;
            Ok(Command::PlaceOrder(orders::new(app, &members, write.now)?))
        }
        "completeOrder" => {
            check(&["orderId"])?;
            Ok(Command::CompleteOrder { id: order_id()? })
        }
        "cancelOrder" => {
            check(&["orderId", "reason"])?;
            Ok(Command::CancelOrder { reason: reason()?, id: order_id()? })
        }
        "returnOrder" => {
            check(&["orderId", "reason"])?;
            Ok(Command::ReturnOrder { reason: reason()?, id: order_id()? })
        }
        _ => Err(super::members::invalid(
            "command must be one of addPet, patchPet, withdrawPet, restorePet, placeOrder, \
             completeOrder, cancelOrder and returnOrder.",
        )),
    }
}
