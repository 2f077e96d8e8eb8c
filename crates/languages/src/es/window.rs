//! The texts of the pages for the public, and of what the pages for the staff share with them, in Spanish.

use petstore_domain::{
    Problem,
    store_area::{Age, FieldLabels},
};

use crate::{numbers::Numbers, window::Texts};

#[rustfmt::skip]
pub(crate) static NUMBERS: Numbers = Numbers {
    decimal_point: ',',
    group_separator: '.',
    grouped_from: 5,
    currency_first: false,
    months: [
        "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
        "diciembre",
    ],
    date: |day, month, year| format!("{day}\u{a0}de\u{a0}{month}\u{a0}de\u{a0}{year}"),
    day_first: true,
};

#[rustfmt::skip]
pub(crate) static FIELDS: [FieldLabels; 17] = [
    FieldLabels::new("species", "Especie", &[
        ("Dog", "Perro"), ("Cat", "Gato"), ("Rabbit", "Conejo"), ("Small mammal", "Pequeño mamífero"), ("Bird", "Ave"),
        ("Reptile", "Reptil"), ("Fish", "Pez"), ("Horse", "Caballo"), ("Other", "Otro"),
    ]),
    FieldLabels::new("breed", "Raza", &[]),
    FieldLabels::new("sex", "Sexo", &[("Female", "Hembra"), ("Male", "Macho"), ("Unknown", "Desconocido")]),
    FieldLabels::new("born", "Fecha de nacimiento", &[]),
    FieldLabels::new("colour", "Color", &[]),
    FieldLabels::new("size", "Tamaño", &[("Small", "Pequeño"), ("Medium", "Mediano"), ("Large", "Grande")]),
    FieldLabels::new("description", "Descripción", &[]),
    FieldLabels::new("price", "Precio", &[]),
    FieldLabels::new("microchip", "Número de microchip", &[]),
    // Those of a shelter.
    FieldLabels::new("good_with_children", "Sociable con niños", &[]),
    FieldLabels::new("good_with_dogs", "Sociable con perros", &[]),
    FieldLabels::new("good_with_cats", "Sociable con gatos", &[]),
    FieldLabels::new("neutered", "Esterilizado/a", &[]),
    FieldLabels::new("house_trained", "Controla sus necesidades", &[]),
    FieldLabels::new("intake", "Fecha de ingreso", &[]),
    FieldLabels::new("intake_kind", "Motivo de ingreso", &[("Found", "Hallazgo"), ("Surrendered", "Entrega del dueño"), ("Returned", "Devolución"), ("Transferred", "Traslado"), ("Born here", "Nacimiento en la protectora")]),
    FieldLabels::new("place", "Ubicación", &[]),
];

pub(crate) static TEXTS: Texts = Texts {
    // The texts about an animal that the pages for the public and those for the staff have.
    no_name: "Aún sin nombre",
    yes: "Sí",
    days: |count| many(count, ["día", "días"]),
    weeks: |count| many(count, ["semana", "semanas"]),
    months: |count| many(count, ["mes", "meses"]),
    years: |count| many(count, ["año", "años"]),
    about: |age| format!("aprox. {age}"),
    around_year: |year| format!("hacia {year}"),
    around_day: |day| format!("hacia el {day}"),
    birth_estimated: "Fecha de nacimiento estimada",
    no: "No",
    photo: |number, name, species| {
        let species = species.map(|species| format!(", {}", species.to_lowercase()));
        format!(
            "Foto {number} de {}{}",
            called(name),
            species.unwrap_or_default()
        )
    },

    // The texts of the pages.
    language: "es",
    locale: "es_ES",
    colon: ": ",
    quotes: ["«", "»"],
    language_name: "Español",
    no_store: "Nuestros animales",
    skip: "Ir al contenido",
    list: "Conozca a nuestros animales",
    pages: "Páginas",
    back: "Todos los animales",
    reserved: "Reserva en curso",
    filter: "Filtrar",
    kinds: "Tipos de animales",
    plural_of_species: |species| match species {
        "Perro" => Some("Perros"),
        "Gato" => Some("Gatos"),
        "Conejo" => Some("Conejos"),
        "Pequeño mamífero" => Some("Pequeños mamíferos"),
        "Ave" => Some("Aves"),
        "Reptil" => Some("Reptiles"),
        "Pez" => Some("Peces"),
        "Caballo" => Some("Caballos"),
        "Otro" => Some("Otros"),
        _ => None,
    },
    search: "Buscar",
    more: "Más filtros",
    without: "Sin el filtro ",
    name: "Nombre",
    age: "Edad",
    kind: "Categoría",
    newest_first: "Primero los más recientes",
    longest_first: "Primero los que llevan más tiempo aquí",
    chosen: "Filtros elegidos",
    take_off: "Quitar ",
    any: "Indiferente",
    show: "Ver animales",
    clear: "Ver todos",
    next: "Más animales",
    first: "Volver a los más recientes",
    link_not_understood: "Una parte de este enlace no se ha entendido y no se ha tenido en cuenta.",
    none_found: "Ninguno de nuestros animales coincide con la búsqueda.",
    none_here_yet: "Ninguno de estos animales coincide. Continúe en la página siguiente.",
    none_at_all: "En este momento, ningún animal busca hogar. Vuelva pronto.",
    contact: "Contactar",
    feed: "Recibir avisos de nuevos animales (RSS)",
    hours: "Horario de apertura",
    gone: "Este animal ya no está aquí",
    gone_next: "Otros siguen buscando hogar.",
    photos: "Fotos",
    close: "Cerrar",
    previous_photo: "Foto anterior",
    next_photo: "Foto siguiente",
    similar: "Animales parecidos",
    perhaps: "Quizá también le interese",
    newest: "Recién llegados",
    new: "Acaba de llegar",
    one_year: "Más de un año con nosotros",
    request: "Referencia del error: ",
    found_a_home: |name| format!("{} ya tiene un hogar", called_first(name)),
    ask: |name| format!("Preguntar por {}", called(name)),
    ask_here: |name, number| format!("Pregúntenos por {}, número {number}.", called(name)),
    number: |number| format!("Número {number}"),
    is_reserved: |name| format!("Hay una reserva en curso para {}.", called(name)),
    photo_of: |number, count| format!("Foto {number} de {count}"),
    count: |count, most| match count {
        1 => "1 animal".to_owned(),
        _ if count > most => format!("Más de {} animales", in_digits(most)),
        _ => format!("{} animales", in_digits(count)),
    },
    age_range: |age| match age {
        Age::UnderOne => "Menos de 1\u{a0}año",
        Age::UnderThree => "Menos de 3\u{a0}años",
        Age::OneToThree => "De 1 a 2\u{a0}años",
        Age::ThreeToEight => "De 3 a 7\u{a0}años",
        Age::EightOrMore => "8\u{a0}años o más",
    },
    about_list: |store| match store {
        Some(store) => {
            format!("Los animales de {store} que buscan hogar, primero los más recientes")
        }
        None => "Los animales que buscan hogar, primero los más recientes".to_owned(),
    },
    about_animal: |name, kind, store| {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", kind.join(", "))
        };
        let of = store
            .map(|store| format!(", de {store},"))
            .unwrap_or_default();
        format!("{}{kind}{of} busca hogar", called_first(name))
    },
    words: crate::join_in_sentence_case,
    problem: |problem| match problem {
        Problem::NotFound => ("Página no encontrada", "Vea todos nuestros animales."),
        Problem::InvalidParameter | Problem::InvalidCursor | Problem::InvalidRequest => {
            ("Esa dirección no es válida", "Vea todos nuestros animales.")
        }
        Problem::MethodNotAllowed => ("Eso no es posible aquí", "Vea todos nuestros animales."),
        Problem::HeadTooLarge => (
            "Esa dirección es demasiado larga",
            "Vea todos nuestros animales.",
        ),
        Problem::OldVersion => ("Se necesita HTTP/1.1", "Vea todos nuestros animales."),
        _ => (
            "Algo ha fallado",
            "Espere un momento y vuelva a cargar la página.",
        ),
    },
    free: "Gratis",
};

/// The name of an animal within a sentence.
fn called(name: &str) -> &str {
    if name == TEXTS.no_name {
        "este animal"
    } else {
        name
    }
}

/// The name of an animal at the beginning of a sentence.
fn called_first(name: &str) -> &str {
    if name == TEXTS.no_name {
        "Este animal"
    } else {
        name
    }
}

/// A number in groups.
pub(crate) fn in_digits(number: usize) -> String {
    NUMBERS.integer(number)
}

fn many(count: i64, [one, several]: [&str; 2]) -> String {
    format!("{count}\u{a0}{}", if count == 1 { one } else { several })
}
