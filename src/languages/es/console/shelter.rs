//! The Spanish texts of the pages for the staff that a shelter has in other words than a shop.

use super::{animals, days};
use crate::{
    domain::{
        PetStatus,
        store_area::{ChangeType, OrderStatus},
    },
    languages::console::Texts,
};

pub(in crate::languages) static TEXTS: Texts = Texts {
    reference_hint: "Su propio número, como el del contrato o un recibo. No el nombre del adoptante.",
    sold_at: "Adoptado el",
    sold_today: "Adoptados hoy",
    all_sales: "Todas las adopciones",
    sell_more: "Dar en adopción…",
    sell: "Dar en adopción",
    sell_now: "Dar en adopción ahora",
    take_back_hint: "El adoptante devuelve el animal, que vuelve a estar disponible.",
    sold_without_order: "Se marcó como adoptado sin ningún trámite. Para corregirlo, edite su estado.",
    pending_without_order: "Se marcó como reservado sin ningún trámite, así que la reserva no tiene fin. Resérvelo aquí para ponerle uno, registre su adopción o edite su estado.",
    find_order: "Buscar un trámite por adoptante, teléfono, animal, referencia o número",
    no_orders_hint: "Abra un animal para reservarlo o registrar su adopción.",
    signature: "Firma del adoptante",
    status_invalid: "El estado debe ser disponible, reservado o adoptado.",
    any_status: "En el refugio",
    also_sold: "En el refugio o adoptados",
    add_sold: "Incluir los adoptados",
    reserve_or_sell: "Reservar o dar en adopción…",
    price: "Tasa de adopción",
    contact: "Adoptante",
    contact_changed: "Datos del adoptante modificados o eliminados",
    price_invalid: "Escriba una tasa de adopción como 249,00, sin signo menos, con 12 cifras como máximo antes de la coma y 4 después.",
    price_of_each: "Tasa de adopción de cada uno (si es otra)",
    status,
    order_status,
    change,
    audited_change,
    is_in_status,
    contact_hint,
    no_order_found_hint,
    sum_of,
    reopen,
    order_is,
    sell_animals,
    sold_as,
    ..super::TEXTS
};

fn status(status: PetStatus) -> &'static str {
    if status == PetStatus::Sold { "Adoptado" } else { super::status(status) }
}

fn order_status(status: OrderStatus) -> &'static str {
    if status == OrderStatus::Completed { "Adoptado" } else { super::order_status(status) }
}

fn change(kind: ChangeType) -> &'static str {
    if kind == ChangeType::OrderCompleted { "Adoptado" } else { super::change(kind) }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::OrderCompleted => "Animal adoptado",
        other => super::audited_change(other),
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Sold => "Ya está adoptado.".to_owned(),
        other => super::is_in_status(other),
    }
}

fn contact_hint(kept: u64) -> String {
    format!(
        "Por ejemplo, un nombre y un teléfono. Se elimina {} después de la adopción.",
        days(kept)
    )
}

fn no_order_found_hint(kept: u64) -> String {
    format!("Revise la ortografía. El adoptante de un trámite cerrado se conserva {}.", days(kept))
}

fn sum_of(status: &str, count: usize, sum: &str) -> String {
    format!("{status}: {count} con tasa, {sum} en total")
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "¿Adoptado por error? Volver a la reserva",
        other => super::reopen(other),
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    match status {
        OrderStatus::Completed => format!(
            "El trámite {id} está adoptado, y el animal se ha modificado desde entonces. Esta vez no se ha cambiado nada."
        ),
        other => super::order_is(id, other),
    }
}

fn sell_animals(count: usize) -> String {
    format!("¿Dar en adopción {}?", animals(count))
}

fn sold_as(order: i64) -> String {
    format!("Adoptado con el trámite {order}.")
}
