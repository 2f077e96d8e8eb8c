//! `runBatch`: `POST /v1/store/batch`.

use petstore_domain::store_area::{Command, PetPatch, Preconditions};
use petstore_formats::json::{self, AddPet, PlaceOrder};
use petstore_web::edge::{ApiError, Response};
use serde_json::value::RawValue;

use super::{
    members::{Body, CommandName, Members, RequiredVersion},
    orders::{self, Act},
    pets::WithdrawPet,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{access::rate_limit, context::Call};

/// How many commands a batch has at most.
const MAX_COMMANDS: u32 = 100;

/// Each command counts against the rate limit of the key.
pub(crate) async fn run(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let caller = call.caller;
    let write = Write::read_with_key(area, call).await?;
    let elements = json::elements(&write.body)?;
    let count = elements.len();
    let allowed = u32::try_from(count)
        .ok()
        .filter(|count| (1..=MAX_COMMANDS).contains(count));
    let Some(counted) = allowed else {
        let message = format!("A batch must have 1 to {MAX_COMMANDS} commands, but has {count}.");
        return Err(super::members::invalid(message));
    };
    let mut commands = Vec::with_capacity(count);
    for (index, element) in elements.into_iter().enumerate() {
        let command = parse(area, element, &write);
        commands.push(command.map_err(|error| error.with_index(index))?);
    }
    if let Some(caller) = caller {
        *write.rate = area.app.keys.take_commands(caller, counted);
        rate_limit::check_commands(*write.rate, counted)?;
    }
    write.execute_all(area, commands, wire::all, Some).await
}

fn parse(area: &StoreArea, element: &RawValue, write: &Write<'_>) -> Result<Command, ApiError> {
    let members = Members::any(element.get().as_bytes(), "The command")?;
    let command = members.required::<CommandName>("command")?;
    let check = |names: &[&str]| members.check(&[&["command"], names].concat());
    let with_pet = |names: &[&str]| check(&[&["petId", "ifMatch"], names].concat());
    let pet_id = || write::pet_id(Some(members.required("petId")?));
    let order_id = || write::order_id(Some(members.required("orderId")?));
    let preconditions = || -> Result<_, ApiError> {
        let required: Option<RequiredVersion> = members.optional("ifMatch")?;
        let if_match = required.map(|RequiredVersion(if_match)| if_match);
        Ok(Preconditions {
            if_match,
            if_absent: false,
        })
    };
    let act = |act: Act| {
        check(&[&["orderId", "ifMatch"], act.names()].concat())?;
        act.command(area, &members, order_id(), preconditions()?, write.now)
    };
    match &*command.0 {
        "addPet" => {
            check(AddPet::NAMES)?;
            let (pet, fields) = members.read::<AddPet>()?.pet()?;
            Ok(Command::AddPet(pet, fields, Vec::new()))
        }
        "patchPet" => {
            with_pet(PetPatch::NAMES)?;
            let patch = members.read()?;
            Ok(Command::PatchPet {
                preconditions: preconditions()?,
                patch,
                id: pet_id()?,
            })
        }
        "withdrawPet" => {
            with_pet(WithdrawPet::NAMES)?;
            let WithdrawPet { reason, note } = members.read()?;
            let preconditions = preconditions()?;
            Ok(Command::WithdrawPet {
                id: pet_id()?,
                reason,
                note,
                preconditions,
            })
        }
        "restorePet" => {
            with_pet(&[])?;
            Ok(Command::RestorePet {
                preconditions: preconditions()?,
                id: pet_id()?,
            })
        }
        "placeOrder" => {
            check(PlaceOrder::NAMES)?;
            Ok(Command::PlaceOrder(orders::new(area, &members, write.now)?))
        }
        "completeOrder" => act(Act::Complete),
        "cancelOrder" => act(Act::Cancel),
        "returnOrder" => act(Act::Return),
        "reopenOrder" => act(Act::Reopen),
        _ => Err(super::members::invalid(
            "command must be one of addPet, patchPet, withdrawPet, restorePet, placeOrder, \
             completeOrder, cancelOrder, returnOrder and reopenOrder.",
        )),
    }
}
