//! Default labels of fields from earlier versions, which existing stores still have.

use petstore_domain::store_area::FieldLabels;

/// The default labels that earlier versions gave to fields and choices, in all languages. A label from
/// this list counts as unchanged, so a change of language replaces it. It is also recognized as a
/// heading or value in an imported table.
#[rustfmt::skip]
pub(super) static FORMER_FIELDS: [FieldLabels; 19] = [
    FieldLabels::new("intake", "Here since", &[]),
    FieldLabels::new("intake_kind", "How it came", &[]),
    FieldLabels::new("place", "Place", &[]),
    FieldLabels::new("good_with_children", "Verträglich mit Kindern", &[]),
    FieldLabels::new("intake_kind", "Art der Aufnahme", &[("Surrendered", "Abgegeben"), ("Transferred", "Übernommen")]),
    FieldLabels::new("good_with_children", "S’entend avec les enfants", &[]),
    FieldLabels::new("good_with_dogs", "S’entend avec les chiens", &[]),
    FieldLabels::new("good_with_cats", "S’entend avec les chats", &[]),
    FieldLabels::new("neutered", "Stérilisé", &[]),
    FieldLabels::new("house_trained", "Propre", &[]),
    FieldLabels::new("intake", "Arrivée le", &[]),
    FieldLabels::new("intake_kind", "Motif d’arrivée", &[("Found", "Trouvé"), ("Surrendered", "Abandonné"), ("Born here", "Né ici")]),
    FieldLabels::new("good_with_children", "Se lleva bien con niños", &[]),
    FieldLabels::new("good_with_dogs", "Se lleva bien con perros", &[]),
    FieldLabels::new("good_with_cats", "Se lleva bien con gatos", &[]),
    FieldLabels::new("neutered", "Esterilizado", &[]),
    FieldLabels::new("house_trained", "Hace sus necesidades fuera", &[]),
    FieldLabels::new("intake", "Con nosotros desde", &[]),
    FieldLabels::new("intake_kind", "Motivo de ingreso", &[("Found", "Encontrado"), ("Surrendered", "Entregado por su dueño"), ("Returned", "Devuelto"), ("Transferred", "Trasladado"), ("Born here", "Nacido aquí")]),
];

/// The default labels that earlier versions gave to the field that marks estimated births.
pub(super) const FORMER_ESTIMATE_LABELS: [&str; 4] = [
    "Birth estimated",
    "Geburt geschätzt",
    "Naissance estimée",
    "Nacimiento estimado",
];
