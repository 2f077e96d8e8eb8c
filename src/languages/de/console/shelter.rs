//! The German texts of the pages for the staff that a shelter has in other words than a shop.

use super::{animals, days};
use crate::{
    domain::{
        PetStatus,
        store_area::{ChangeType, OrderStatus},
    },
    languages::console::Texts,
};

pub(in crate::languages) static TEXTS: Texts = Texts {
    reference_hint: "Ihre eigene Nummer dafür, z.\u{a0}B. von Schutzvertrag oder Beleg. Nicht der Name des Adoptanten.",
    sold_at: "Vermittelt am",
    sold_today: "Heute vermittelt",
    all_sales: "Alle Vermittlungen",
    sell_more: "Vermitteln\u{a0}…",
    sell: "Vermitteln",
    sell_now: "Jetzt vermitteln",
    take_back_hint: "Der Adoptant bringt das Tier zurück. Es ist dann wieder verfügbar.",
    sold_without_order: "Das Tier wurde ohne Vorgang als vermittelt markiert. Zum Korrigieren ändern Sie seinen Status.",
    pending_without_order: "Das Tier wurde ohne Vorgang als reserviert markiert, deshalb hat die Reservierung kein Ende. Reservieren Sie es hier, um ein Ende festzulegen, vermitteln Sie es oder ändern Sie seinen Status.",
    find_order: "Vorgang suchen: Adoptant, Telefon, Tier, Belegnummer oder Nummer",
    no_orders_hint: "Öffnen Sie ein Tier, um es zu reservieren oder zu vermitteln.",
    signature: "Unterschrift des Adoptanten",
    status_invalid: "Der Status muss verfügbar, reserviert oder vermittelt sein.",
    any_status: "Im Tierheim",
    also_sold: "Im Tierheim oder vermittelt",
    add_sold: "Auch vermittelte",
    reserve_or_sell: "Reservieren oder vermitteln\u{a0}…",
    price: "Schutzgebühr",
    contact: "Adoptant",
    contact_changed: "Adoptant geändert oder gelöscht",
    price_invalid: "Geben Sie eine Schutzgebühr wie 249,00 ein, ohne Minus, mit höchstens 12 Stellen vor und 4 nach dem Komma.",
    price_of_each: "Schutzgebühr pro Tier (falls abweichend)",
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
    if status == PetStatus::Sold { "Vermittelt" } else { super::status(status) }
}

fn order_status(status: OrderStatus) -> &'static str {
    if status == OrderStatus::Completed { "Vermittelt" } else { super::order_status(status) }
}

fn change(kind: ChangeType) -> &'static str {
    if kind == ChangeType::OrderCompleted { "Vermittelt" } else { super::change(kind) }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::OrderCompleted => "Tier vermittelt",
        other => super::audited_change(other),
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Sold => "Es ist schon vermittelt.".to_owned(),
        other => super::is_in_status(other),
    }
}

fn contact_hint(kept: u64) -> String {
    format!("Z.\u{a0}B. Name und Telefonnummer. Wird {} nach der Vermittlung gelöscht.", days(kept))
}

fn no_order_found_hint(kept: u64) -> String {
    format!(
        "Prüfen Sie die Schreibweise. Nach dem Abschluss eines Vorgangs bleibt der Adoptant {} lang bekannt.",
        days(kept)
    )
}

fn sum_of(status: &str, count: usize, sum: &str) -> String {
    format!("{status}: {count} mit Schutzgebühr, zusammen {sum}")
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Versehentlich vermittelt? Wieder reservieren",
        other => super::reopen(other),
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    match status {
        OrderStatus::Completed => format!(
            "Vorgang {id} ist schon eine Vermittlung, und das Tier wurde seitdem geändert. Diesmal wurde nichts geändert."
        ),
        other => super::order_is(id, other),
    }
}

fn sell_animals(count: usize) -> String {
    format!("{} vermitteln?", animals(count))
}

fn sold_as(order: i64) -> String {
    format!("Vermittelt als Vorgang {order}.")
}
