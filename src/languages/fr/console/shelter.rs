//! The French texts of the pages for the staff that a shelter has in other words than a shop.

use super::{animals, days};
use crate::{
    domain::{
        PetStatus,
        store_area::{ChangeType, OrderStatus},
    },
    languages::console::Texts,
};

pub(in crate::languages) static TEXTS: Texts = Texts {
    reference_hint: "Votre propre numéro, par exemple celui du contrat ou du reçu. Pas le nom de l’adoptant.",
    sold_at: "Adoption",
    sold_today: "Adoptés aujourd’hui",
    all_sales: "Toutes les adoptions",
    sell_more: "Faire adopter…",
    sell: "Faire adopter",
    sell_now: "Faire adopter maintenant",
    take_back_hint: "L’adoptant rend l’animal, qui redevient disponible.",
    sold_without_order: "L’animal a été marqué comme adopté sans dossier. Pour corriger cela, modifiez son statut.",
    pending_without_order: "L’animal a été marqué comme réservé sans dossier\u{a0}: la réservation n’a donc pas d’échéance. Réservez-le ici pour en fixer une, enregistrez son adoption ou modifiez son statut.",
    find_order: "Trouver un dossier par adoptant, téléphone, animal, référence ou numéro",
    no_orders_hint: "Ouvrez un animal pour le réserver ou enregistrer son adoption.",
    signature: "Signature de l’adoptant",
    status_invalid: "Le statut doit être disponible, réservé ou adopté.",
    any_status: "Au refuge",
    also_sold: "Au refuge ou adoptés",
    add_sold: "Aussi les adoptés",
    reserve_or_sell: "Réserver ou faire adopter…",
    price: "Frais d’adoption",
    contact: "Adoptant",
    contact_changed: "Adoptant modifié ou supprimé",
    price_invalid: "Saisissez des frais d’adoption tels que 249,00, sans signe moins, avec au plus 12 chiffres avant la virgule et 4 après.",
    price_of_each: "Frais d’adoption par animal (s’ils sont différents)",
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
    if status == PetStatus::Sold { "Adopté" } else { super::status(status) }
}

fn order_status(status: OrderStatus) -> &'static str {
    if status == OrderStatus::Completed { "Adopté" } else { super::order_status(status) }
}

fn change(kind: ChangeType) -> &'static str {
    if kind == ChangeType::OrderCompleted { "Adopté" } else { super::change(kind) }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::OrderCompleted => "Animal adopté",
        other => super::audited_change(other),
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Sold => "L’animal est déjà adopté.".to_owned(),
        other => super::is_in_status(other),
    }
}

fn contact_hint(kept: u64) -> String {
    format!(
        "Par exemple un nom et un numéro de téléphone. Supprimé {} après l’adoption.",
        days(kept)
    )
}

fn no_order_found_hint(kept: u64) -> String {
    format!(
        "Vérifiez l’orthographe. L’adoptant d’un dossier clos est conservé pendant {}.",
        days(kept)
    )
}

fn sum_of(status: &str, count: usize, sum: &str) -> String {
    format!("{status}\u{a0}: {count} avec des frais, {sum} au total")
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Adopté par erreur\u{a0}? Remettre en réservation",
        other => super::reopen(other),
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    match status {
        OrderStatus::Completed => format!(
            "Le dossier {id} est déjà une adoption, et l’animal a été modifié depuis. Rien n’a été modifié cette fois."
        ),
        other => super::order_is(id, other),
    }
}

fn sell_animals(count: usize) -> String {
    format!("Faire adopter {}\u{a0}?", animals(count))
}

fn sold_as(order: i64) -> String {
    format!("Animal adopté (dossier {order}).")
}
