//! The texts of the pages for the staff, in Spanish.

use std::borrow::Cow;

use maud::html;
use petstore_domain::{
    PetStatus, Problem, Role, Scope,
    staff::{Password, WeakPassword},
    store_area::{
        ActType, ChangeType, DisabledReason, FieldKind, OrderStatus, PictureProblem, StoreKind,
        SubjectKind, WithdrawalReason,
    },
};

use crate::{console::Texts, declaration::Unit, es::window::in_digits};

pub(crate) static TEXTS: Texts = Texts {
    language: "es-ES",
    site: "Petstore",
    skip: "Ir al contenido",
    main_menu: "Menú principal",
    sign_out: "Cerrar sesión",
    today: "Hoy",
    animals_heading: "Animales",
    add: "Añadir",
    orders: "Trámites",
    activity: "Actividad",
    website: "Sitio web",
    public_page: "Ver la página pública",
    settings: "Ajustes",
    categories: "Categorías",
    webhooks: "Webhooks",
    error_prefix: "Error: ",
    problem_heading: "Hay un problema",
    go_back: "Volver",
    cancel: "Cancelar",
    next_page: "Página siguiente",
    first_page: "Primera página",
    no_name: "(sin nombre)",
    actions: "Acciones",

    // Values.
    name: "Nombre",
    number: "Número",
    category_number_label: "N.º de categoría",
    category: "Categoría",
    status_label: "Estado",
    added_at: "Añadido",
    changed_at: "Último cambio",
    staff_member: "alguien del equipo",
    program: |name| format!("el programa «{name}»"),
    a_program: "un programa",
    the_service: "el servicio",
    the_operator: "el administrador del servidor",
    reference: "Referencia",
    reference_hint: "Un número de la tienda, como el de una factura o un recibo. No escriba aquí datos del cliente.",
    note: "Nota",
    reason_label: "Motivo",
    optional: "(opcional)",
    until: "Reservar hasta (inclusive)",
    category_hint: "Elija una categoría o escriba su número.",
    animal: "Animal",
    order: "Trámite",
    placed_at: "Registrado",
    ends: "Vence",
    ends_or_closed: "Fecha",
    closed_at: "Cerrado",
    sold_at: "Vendido el",
    before_number: ["#", "n.º", "nº", "número", "animal", "trámite"],

    // Today.
    find_label: "Buscar un animal: nombre, número, microchip, raza, color…",
    find: "Buscar",
    ending_today: "Vencen hoy",
    ending_tomorrow: "Vencen mañana",
    ending_later: "Vencen pasado mañana",
    call: "Llamar",
    ending: "Reservas que vencen pronto",
    none_ending: "Ninguna reserva vence en los próximos tres días.",
    sold_today: "Vendidos hoy",
    all_sales: "Todas las ventas",
    incomplete: "Añadidos en los últimos 7 días, sin foto o sin microchip",
    no_photo: "sin foto",
    no_chip: "sin microchip",
    newest_animals: "Animales más recientes",
    shown_of: |shown, count| format!("{shown} de {count}"),
    counting: "contando…",
    all_reservations: "Todas las reservas",
    empty_store: "Todavía no hay animales",
    empty_store_hint: "Añada el primero o pegue varios desde una hoja de cálculo.",
    add_animals: "Añadir animales",
    numbers: "Cantidad de animales",
    first_steps: "Primeros pasos",
    step_store: "Preséntese: nombre, idioma, logotipo, dirección y horario",
    step_animal: "Añadir un animal",
    step_import: "Importar animales desde una hoja de cálculo",
    step_colleague: "Añadir a una persona del equipo",
    step_window: "Ver las páginas públicas de sus animales",
    no_steps: "No mostrar más estos pasos",

    // Animal.
    edit: "Editar",
    save: "Guardar",
    reserve_more: "Reservar…",
    sell_more: "Vender…",
    reserve: "Reservar",
    sell: "Vender",
    sell_now: "Vender ahora",
    cancel_reservation: "Anular la reserva",
    take_back_more: "Registrar una devolución…",
    take_back: "Registrar la devolución",
    take_back_hint: "El cliente devuelve el animal, que queda de nuevo disponible.",
    new_intake: "Registrar también su nuevo ingreso, con la fecha de hoy",
    sold_without_order: "Se marcó como vendido sin ningún trámite. Para corregirlo, edite su estado.",
    pending_without_order: "Se marcó como reservado sin ningún trámite, así que la reserva no tiene fin. Resérvelo aquí para \
     ponerle uno, véndalo o edite su estado.",
    withdraw: "Registrar la baja",
    withdraw_more: "Registrar una baja…",
    withdraw_hint: "El animal desaparece del sitio web y de las listas habituales. Su historial se conserva y la baja se puede anular.",
    restore: "Anular la baja",
    restore_hint: "Volverá a las listas tal como estaba.",
    choose: "Elija un motivo",
    history: "Historial",
    older: "Entradas anteriores",
    whole_before: "Texto completo anterior",
    no_history: "No hay ningún cambio registrado.",
    new_note: "Nueva nota",
    new_note_hint: "Por ejemplo, sobre el comportamiento o una llamada. Las notas solo las ve el equipo.",
    add_note: "Añadir nota",
    correct_note: "Corregir o eliminar",
    note_on: |animal| format!("Nota sobre {animal}"),
    note_corrected: "corregida",
    note_corrected_by: |name| format!("corregida por {name}"),
    note_missing: "Escriba algo primero.",
    no_note: "Esta nota se ha eliminado.",
    not_your_note: "Solo quien escribió la nota o un responsable puede cambiarla.",
    too_many_notes: "Este animal ya tiene 500 notas. Elimine las que ya no hagan falta.",
    delete_note: "Eliminar nota",
    delete_note_question: "¿Eliminar esta nota?",
    delete_note_effect: "El texto se perderá definitivamente y no se podrá recuperar.",
    note_was_added: "Nota añadida.",
    note_was_changed: "Nota corregida.",
    note_was_deleted: "Nota eliminada.",
    status_held: "Su estado depende de un trámite. Para cambiarlo, abra el trámite.",

    // Conflict.
    conflict: "Otra persona ha modificado este animal",
    conflict_hint: "Se ha modificado mientras usted lo editaba. Lo que ha escrito aún no está guardado. Compare las dos versiones, \
     corrija la suya si quiere y elija una.",
    theirs: "Versión guardada",
    yours: "Su versión",
    save_mine: "Guardar mi versión",
    keep_theirs: "Dejar la versión guardada",
    different: "distinto",

    // Add.
    add_one: "Un animal",
    add_many: "Varios desde una hoja de cálculo",
    add_animal: "Añadir el animal",
    add_to_number: "Añadir el animal con este número, sin nombre de categoría",
    paste: "Filas de la hoja de cálculo",
    paste_hint: "Copie las filas y péguelas aquí: un animal por fila, con su nombre y su categoría. Si la primera fila \
     contiene los encabezados, puede incluir también el estado y los demás campos. Si una fila no tiene categoría, se usa la habitual de su especie. Verá una vista previa antes de añadir nada.",
    preview: "Vista previa",
    line: "Fila",
    check: "Comprobación",
    fine: "Correcto",
    preview_hint: "Aún no se ha añadido nada. Se añaden todos o ninguno.",
    change_lines: "Editar las filas",
    preview_again: "Repetir la vista previa",

    // Orders.
    find_order: "Buscar un trámite por cliente, teléfono, animal, referencia o número",
    find_order_by_animal: "Buscar un trámite por animal, referencia o número",
    no_orders: "Aquí no hay trámites",
    no_orders_hint: "Abra un animal para reservarlo o venderlo.",
    no_order_found: "No se ha encontrado ningún trámite",
    all: "Todos",
    print: "Imprimir",
    place_and_date: "Lugar y fecha",
    signature: "Firma del cliente",
    signature_of_store: "Firma por el centro",
    contract_heading: "Contrato de compraventa",
    contract_name: "Nombre y apellidos",
    contract_address: "Dirección",
    unknown_placeholder: |name| {
        format!(
            "El contrato puede contener {{animal}}, {{store}}, {{microchip}}, {{fee}}, {{adopter}} y {{date}}, pero no {name}. Corríjalo o quite las llaves."
        )
    },
    shown_here: "En esta página:",
    only_first: "Se muestran las 100 reservas que vencen antes.",

    // Problems.
    no_pet: "Ningún animal tiene este número.",
    no_order: "Ningún trámite tiene este número.",
    not_found: "No encontrado",
    name_too_long: "El nombre es demasiado largo.",
    name_missing: "Escriba el nombre del animal.",
    category_missing: "Indique la categoría.",
    status_invalid: "El estado debe ser disponible, reservado o vendido.",
    reason_missing: "Elija un motivo.",
    day_invalid: "Indique el día de hoy o uno posterior, dentro de 400 días como máximo.",
    none_selected: "Seleccione primero al menos un animal.",
    nothing_pasted: "Pegue al menos una fila.",
    stale: "Otra persona lo ha modificado mientras tanto, así que esta vez no se ha cambiado nada. Mire cómo está ahora y \
     vuelva a intentarlo.",
    nothing_changed: "No se ha cambiado nada. No es posible con estos animales:",
    undone_without: "Los demás animales vuelven a tener su valor anterior. Estos se quedan como están:",
    status,
    withdrawn: "Baja",
    departures: "Otra baja",
    withdrawn_filter: "Otras bajas",
    status_below: |count, status| {
        if count == 1 {
            Cow::Borrowed(status)
        } else if status == TEXTS.departures {
            Cow::Borrowed(TEXTS.withdrawn_filter)
        } else {
            Cow::Owned(format!("{status}s"))
        }
    },
    overdue: "Fuera de plazo",
    order_status,
    reason,
    extended: "Reserva ampliada",
    renamed: "Categoría renombrada",
    change,
    animals,
    more_than: |count| format!("Más de {}", animals(count)),
    first_shown: |count| {
        if count == 1 {
            "Se muestra el primer animal.".to_owned()
        } else {
            format!("Se muestran los primeros {}.", animals(count))
        }
    },
    title_of_order: |id| format!("Trámite {id}"),
    this_order: |id| format!("trámite {id}"),
    labels: |all| {
        let (last, others) = all
            .split_last()
            .map_or(("", all), |(last, others)| (*last, others));
        let others = others.join(", ");
        let both = if others.is_empty() {
            last.to_owned()
        } else {
            format!("{others} y {last}")
        };
        let mut letters = both.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + &letters.as_str().to_lowercase()
    },
    too_long: |label, most| {
        format!(
            "{label}: escriba como máximo {} caracteres.",
            in_digits(most)
        )
    },
    form_too_large: |most| {
        format!(
            "El formulario tiene más de {} campos, así que no se ha leído nada. Vuelva atrás y envíe menos de una vez.",
            in_digits(most)
        )
    },
    select: |name| format!("Seleccionar {name}"),
    add_count: |count| format!("Añadir {}", animals(count)),
    wrong_lines: |count| {
        if count == 1 {
            "Hay un problema en 1 fila. Corríjala abajo y repita la vista previa.".to_owned()
        } else {
            format!(
                "Hay problemas en {} filas. Corríjalas abajo y repita la vista previa.",
                in_digits(count)
            )
        }
    },
    add_with_category: |label| format!("Añadir el animal y la categoría «{label}»"),
    unknown_category: |text| {
        format!("No existe la categoría «{text}». Elija una de la lista o escriba su número.")
    },
    ambiguous_category: |text, one, other| {
        format!(
            "Más de una categoría tiene el nombre «{text}». Escriba su número, por ejemplo, {one} o {other}."
        )
    },
    category_prefix: "Categoría ",
    category_number: |id| format!("Categoría {id}"),
    changed_by: |name| format!("Modificado por {name}"),
    is_withdrawn: "Está dado de baja. Anule primero la baja.",
    withdraw_animal: |name| format!("¿Registrar la baja de {name}?"),
    has_no_reservation: "No tiene ninguna reserva.",
    is_gone: "Ya no existe.",
    is_reserved: |order| format!("Está reservado con el trámite {order}."),
    animal_is_reserved: |order| format!(" El animal está reservado con el trámite {order}."),
    is_in_status,

    // Categories.
    no_categories: "Ninguna categoría tiene nombre todavía",
    no_categories_hint: "Ponga nombre a la primera, por ejemplo, Perros. Así todos podrán elegirla por ese nombre.",
    name_category_heading: "Añadir o renombrar una categoría",
    category_number_hint: "Se propone un número libre. Para cambiar el nombre de una categoría, escriba su número y el nombre nuevo.",
    label_missing: "Escriba el nombre de la categoría.",
    label_invalid: "Escriba de 1 a 255 caracteres.",
    no_free_number: "No se ha encontrado ningún número libre. Escriba un número en la página «Categorías».",
    number_invalid: "Escriba un número entero.",

    // Adding one animal.
    category_of_species: "Si se deja vacía, se usa la categoría habitual de la especie del animal; si aún no existe, se crea.",
    species_or_category: "Elija una especie o una categoría.",
    or_about: "O edad aproximada",
    about_hint: "Por ejemplo, 2 años u 8 meses; un número sin unidad se interpreta como años.",
    ages_typed: ["a año años", "m mes meses", "s sem semana semanas"],
    age_invalid: "Escriba la edad en años, como 2, o bien 8 meses o 10 semanas.",
    birth_too_early: "Hace más de 150 años de eso. Escriba una edad de 150 años como máximo o una fecha de nacimiento posterior.",
    born_or_age: "Escriba la fecha de nacimiento o la edad, y deje la otra vacía.",

    // The texts about fields and their values.
    fields: "Campos",
    fields_hint: "Los campos son los datos de cada animal: aparecen en los formularios, en la página del animal y en otros programas.",
    more_fields: "Más campos",
    any_value: "Indiferente",
    no_value: "–",
    field_label: "Nombre visible",
    field_label_hint: "El nombre que se muestra; por ejemplo, Raza.",
    field_name: "Nombre técnico",
    field_name_hint: "Letras minúsculas de la a a la z (sin tildes ni ñ), cifras y guiones bajos, como pelo_largo. Si se deja vacío, se forma a partir del nombre visible. Después no se podrá cambiar.",
    field_name_invalid: "Escriba un nombre técnico: de 1 a 32 letras minúsculas de la a a la z (sin tildes ni ñ), cifras y guiones bajos, empezando por una letra.",
    field_name_taken: "Otro campo ya tiene este nombre técnico. Escriba uno distinto.",
    field_label_taken: "Otro campo ya tiene este nombre visible. No se podrían distinguir en ningún formulario. Escriba uno distinto.",
    field_kind: "Tipo",
    choose_kind: "Elija un tipo",
    field_label_invalid: "Escriba un nombre visible de 1 a 255 caracteres.",
    field_kind_missing: "Elija un tipo.",
    field_choices: "Opciones",
    more_choices: "Más opciones",
    remove_choice: "Quitar",
    field_labels_hint: "Para renombrar una opción, cambie su nombre visible: los animales la conservan. Los programas siguen usando el primer nombre.",
    field_labels_invalid: "Cada opción necesita un nombre de 1 a 100 caracteres que ninguna otra tenga o haya tenido. No se \
     distingue entre mayúsculas y minúsculas.",
    field_choices_hint: "Solo para el tipo «Opción de una lista»: una por línea, de 1 a 100, cada una con 64 caracteres como máximo.",
    field_choices_invalid: "Escriba de 1 a 100 opciones distintas, una por línea, cada una con 64 caracteres como máximo. No se distingue entre mayúsculas y minúsculas.",
    field_position: "Posición",
    field_position_hint: "De 0 a 10.000. Los campos con una posición menor van antes. Si se deja vacía, el campo queda el último.",
    field_position_invalid: "Escriba una posición de 0 a 10.000.",
    field_public: "Mostrar en el sitio web",
    field_public_hint: "Todo el mundo puede ver los valores.",
    field_unique: "Valor único",
    field_unique_hint: "Dos animales no pueden tener el mismo valor, como ocurre con el microchip. Solo para textos y números enteros.",
    add_field: "Añadir un campo",
    delete_field: "Eliminar el campo",
    field_deleted_effect: "Desaparece de todos los formularios y páginas. Solo es posible mientras no esté relleno en ningún animal.",
    birth_invalid: "Escriba una fecha con día, mes y año, como 03/05/2024, que no sea futura.",
    no_field: "Ese campo no existe.",
    field_in_use: "Este campo está relleno en algún animal (cuentan también los dados de baja). Mientras sea así, no se puede eliminar \
     ni se pueden cambiar su tipo ni «Valor único».",
    too_many_fields: "Ya hay 50 campos. Elimine uno antes de añadir otro.",
    field_changed: "Otra persona ha modificado este campo al mismo tiempo. Compruebe cómo está ahora y guarde de nuevo.",
    delete_choice: |choice| format!("¿Quitar la opción «{choice}»?"),
    show_field: |label| format!("¿Mostrar «{label}» en el sitio web?"),
    change_field: |label| format!("¿Modificar el campo «{label}»?"),
    choice_in_use: |count, most, choice| {
        let animals = match count {
            _ if count > most => format!("más de {}", animals(most)),
            count => animals(count),
        };
        format!(
            "«{choice}» se usa en {animals}. Allí se conserva, pero ya no se podrá elegir para otros. Para renombrar la opción, cambie su nombre visible."
        )
    },
    becomes_public: |count, has_more| {
        let animals = match count {
            _ if has_more => "muchos animales".to_owned(),
            count => animals(count),
        };
        format!("Este campo está relleno en {animals}. Todo el mundo podrá verlo.")
    },
    kind: |kind| match kind {
        FieldKind::Text => ("Texto", "Escriba como máximo 255 caracteres."),
        FieldKind::LongText => ("Texto largo", "Escriba como máximo 8000 caracteres."),
        FieldKind::Integer => ("Número entero", "Escriba un número entero, como 4."),
        FieldKind::Decimal => (
            "Número con decimales",
            "Escriba un número como 249,00, con 12 cifras como máximo antes de la coma y 4 después.",
        ),
        FieldKind::Date => (
            "Fecha",
            "Escriba una fecha con día, mes y año, como 03/05/2024.",
        ),
        FieldKind::Boolean => ("Sí o no", "Indique sí o no."),
        FieldKind::Choice => ("Opción de una lista", "Elija una de la lista."),
    },
    animal_with_number: |name, number| format!("{name} (número {number})"),
    value_taken: |label, other| {
        format!("{label}: {other} ya tiene este valor. Cada animal necesita el suyo.")
    },
    other_new: "otro de estos animales",
    show_animal: |other| format!("Ver {other}"),
    shared_value: |label| {
        format!(
            "{label}: estos animales tienen el mismo valor, que debe ser único. Cámbielo en todos menos en uno:"
        )
    },
    field_removed: |label, typed| {
        format!(
            "El campo «{label}» se ha eliminado. Usted había escrito: {typed}. No se guardará cuando envíe de nuevo el formulario."
        )
    },
    choice_removed: |label, chosen| {
        format!("{label}: {chosen} ya no es una opción. Elija otra o ninguna.")
    },
    number_shortened: |typed| {
        format!(
            "Excel ha abreviado el número a {typed} y faltan sus últimas cifras. En Excel, seleccione la columna, elija «Formato de celdas», «Número» con 0 decimales, y cópiela otra vez."
        )
    },
    spreadsheet_error: |cell| {
        format!(
            "{cell} no es un valor. Si muestra ####, ensanche la columna en la hoja de cálculo; si no, corrija la fórmula o vacíe la celda. Después, copie y pegue las filas otra vez."
        )
    },

    // The list of animals, and its bar.
    on_website: "En el sitio web",
    not_on_website: "Fuera del sitio web",
    listing_invalid: "Indique sí o no.",
    website_hint: "Elija «Fuera del sitio web», por ejemplo, durante la cuarentena o mientras el dueño pueda reclamar al animal. Así, solo lo verá el equipo.",
    website_more: "Sitio web…",
    put_on_website: "Publicar en el sitio web",
    take_off_website: "Retirar del sitio web",
    any_status: "Actuales",
    also_sold: "Actuales o vendidos",
    filter: "Filtrar",
    filters: "Filtros",
    add_sold: "Incluir los vendidos",
    take_off: " (quitar)",
    show: "Mostrar",
    any_category: "Todas",
    none_here: "En este momento no hay ninguno aquí",
    nothing_found: "No se ha encontrado ningún animal",
    nothing_found_hint: "Revise la ortografía o escriba solo el principio del nombre.",
    none_match: "Ningún animal coincide con estos filtros.",
    search_orders: |typed| format!("Buscar «{typed}» en los trámites"),
    select_all: "Seleccionar todos los de esta página",
    skip_list: "Ir a las acciones",
    with_selected: "Modificar los animales seleccionados",
    all_or_none: "Si alguno de los seleccionados no se puede modificar, no se modifica ninguno.",
    reserve_or_sell: "Reservar o vender…",
    move_more: "Cambiar de categoría…",
    move_label: "Pasar a esta categoría",
    value_more: "Cambiar un valor…",
    new_value: "Valor nuevo",
    value_hint: "Según el campo: una opción de la lista, sí o no, una fecha, un número o un texto. Déjelo vacío para borrar el valor.",
    field_of_animals: "Campo",
    choose_field: "Elija un campo",
    field_missing: "Elija el campo que quiere cambiar.",
    cancel_reservations: "Anular reservas",
    clear: "Quitar filtros",
    chip: |label, value| format!("{label}: {value}"),
    too_many_filters: |most, left_out| {
        format!(
            "Se puede filtrar como máximo por {most} campos a la vez, así que no se usa {left_out}. Quite primero uno de los otros."
        )
    },

    // The texts of the pages for managers.

    // Activity.
    export: "Exportar como CSV",
    no_activity: "Sin actividad en este periodo",
    no_activity_hint: "Elija otros días o quite un filtro.",
    no_activity_yet: "Todavía no se ha encontrado nada",
    no_activity_yet_hint: "Las entradas más recientes no coinciden. La página siguiente continúa con otras anteriores.",
    since: "Desde el día",
    up_to: "Hasta el día (inclusive)",
    animal_number: "Número del animal",
    any_type: "Todas",
    when: "Fecha",
    who: "Quién",
    what: "Acción",
    about: "Afecta a",
    difference: "Detalles",
    export_cut: "Hay más entradas. Exporte menos días cada vez.",
    list_export_cut: "Hay más filas. Filtre la lista y expórtela por partes.",
    audited_change,
    act: |kind| match kind {
        ActType::KeyCreated => "Clave de API creada",
        ActType::KeyRotated => "Clave de API renovada",
        ActType::KeyRevoked => "Clave de API revocada",
        ActType::WebhookAdded => "Webhook añadido",
        ActType::WebhookChanged => "Webhook modificado",
        ActType::WebhookDeleted => "Webhook eliminado",
        ActType::WebhookSecretRotated => "Secreto de webhook renovado",
        ActType::WebhookEnabled => "Webhook activado",
        ActType::WebhookDisabled => "Webhook desactivado",
        ActType::FieldAdded => "Campo añadido",
        ActType::FieldChanged => "Campo modificado",
        ActType::FieldDeleted => "Campo eliminado",
        ActType::ProfileChanged => "Datos del centro modificados",
        ActType::StaffAdded => "Miembro añadido",
        ActType::StaffRoleChanged => "Rol de un miembro cambiado",
        ActType::StaffReset => "Acceso de un miembro restablecido",
        ActType::StaffDisabled => "Miembro bloqueado",
        ActType::StaffPasswordSet => "Contraseña establecida",
        ActType::StaffLinked => "Vinculado al proveedor de acceso",
        ActType::StaffSecondFactorSet => "Segundo factor configurado",
        ActType::StaffSecondFactorRemoved => "Segundo factor eliminado",
        ActType::StaffPasskeyAdded => "Llave de acceso añadida",
        ActType::StaffPasskeyRemoved => "Llave de acceso eliminada",
        ActType::StaffSignedIn => "Sesión iniciada",
        ActType::StaffSignInFailed => "Inicio de sesión fallido",
        ActType::StaffSessionsEnded => "Sesiones cerradas",
        ActType::DatabaseCopied => "Base de datos copiada",
        ActType::DatabaseRestored => "Base de datos restaurada",
        ActType::DatabaseTimeConfirmed => "Reloj de la base de datos confirmado",
    },
    subject: |kind| match kind {
        SubjectKind::Pet => "Animal",
        SubjectKind::Pets => "Animales",
        SubjectKind::Order => "Trámite",
        SubjectKind::Category => "Categoría",
        SubjectKind::Note => "Nota",
        SubjectKind::Key => "Clave de API",
        SubjectKind::Staff => "Miembro",
        SubjectKind::Webhook => "Webhook",
        SubjectKind::Field => "Campo",
        SubjectKind::Profile => "Centro",
        SubjectKind::Database => "Base de datos",
    },

    // Webhooks.
    webhooks_hint: "Un webhook avisa de cada cambio a otro programa, como su sitio web o su contabilidad.",
    no_webhooks: "Todavía no hay webhooks",
    no_webhooks_hint: "Añada uno con la dirección que le dé el otro programa.",
    no_webhook: "Ningún webhook tiene este número.",
    add_webhook: "Añadir un webhook",
    address: "Dirección",
    address_hint: "Empieza por https://.",
    description: "Descripción",
    sends: "Cambios que envía",
    sends_hint: "Si no elige ninguno, se envían todos los cambios.",
    every_change: "Todos los cambios",
    works: "Funciona",
    not_used: "Sin usar todavía",
    url_missing: "Escriba la dirección.",
    url_invalid: "Escriba una dirección como https://tienda.example/hooks, sin espacios, nombre de usuario, contraseña ni nada detrás de #. Para http:// o una dirección de la red interna, pregunte al administrador del servidor.",
    fails: "Falla",
    off: "Desactivado",
    fails_since: "Falla desde",
    attempts: "Últimos intentos",
    no_attempts: "Todavía no se ha enviado nada.",
    result: "Resultado",
    duration: "Duración",
    delivered: "Entregado",
    failed: "Fallido",
    test: "Enviar mensaje de prueba",
    test_hint: "Al cabo de un momento, el resultado aparece en la lista de intentos.",
    enable: "Reanudar donde se detuvo",
    enable_hint: "Se envía todo lo ocurrido desde entonces.",
    enable_now: "Reanudar desde ahora",
    enable_now_hint: "Lo ocurrido mientras tanto no se envía nunca.",
    disable: "Desactivar",
    block_member: "Bloquear",
    disable_hint: "No se envía nada más hasta que lo active de nuevo.",
    rotate: "Crear un secreto nuevo",
    rotate_hint: "El anterior sigue siendo válido durante 24 horas.",
    delete: "Eliminar",
    delete_webhook: "Eliminar este webhook",
    delete_hint: "También se elimina su lista de intentos. No se puede deshacer.",
    secret: "El secreto del webhook",
    secret_hint: "Cópielo ahora en los ajustes del programa. No se vuelve a mostrar.",
    too_many_webhooks: "Ya hay 100 webhooks. Elimine uno primero.",
    failing_webhooks: |count| match count {
        1 => "1 webhook no recibe sus mensajes.".to_owned(),
        count => format!("{count} webhooks no reciben sus mensajes."),
    },
    show_webhooks: "Ver los webhooks",
    disabled: |reason| match reason {
        DisabledReason::Failures => {
            "Desactivado, porque todos los mensajes han fallado durante cinco días"
        }
        DisabledReason::Gone => "Desactivado, porque el receptor no quiere más mensajes",
        DisabledReason::Request => "Desactivado manualmente",
    },

    // Orders.
    price: "Precio",
    contact: "Cliente",
    contact_of: |_| TEXTS.contact,
    contact_hint: |kept| {
        format!(
            "Por ejemplo, un nombre y un teléfono. Estos datos se eliminan {} después de la venta o del fin de la reserva.",
            days(kept)
        )
    },
    no_order_found_hint: |kept| {
        format!(
            "Revise la ortografía. Los datos del cliente de un trámite cerrado se conservan {}.",
            days(kept)
        )
    },
    only_newest: |searched| {
        format!(
            "Solo se ha buscado en los {} trámites más recientes y en los primeros animales con ese nombre.",
            in_digits(searched)
        )
    },
    orders_found: |count, has_more| {
        let orders = many(count, ["trámite", "trámites"]);
        if has_more {
            format!("{orders} o más")
        } else {
            orders
        }
    },
    sum_of: |status, count, sum| {
        let what = match (status, count) {
            (OrderStatus::Completed, 1) => "venta",
            (OrderStatus::Completed, _) => "ventas",
            (_, 1) => "reserva",
            _ => "reservas",
        };
        format!("{} {what} con precio, {sum} en total", in_digits(count))
    },
    text_too_long: "Escriba como máximo 500 caracteres.",
    contact_changed: "Datos del cliente modificados o eliminados",
    change_order: "Modificar el trámite",
    extend_or_change: "Ampliar la reserva o modificar el trámite",
    price_invalid: "Escriba un importe, como 249,00.",
    ambiguous: |typed, [one, other], [first, second]| {
        format!("{typed} puede significar {one} o {other}. Escriba {first} o {second}.")
    },
    reopen,
    typed_here: "Esto lo ha escrito usted y no está guardado:",
    that_was: "Fue",
    did_that: |name| format!("Lo hizo {name},"),
    order_before: "Trámite anterior",
    price_of_each: "Precio por animal (si se deja vacío, cada uno conserva el suyo)",
    order_is,

    // Photos.
    manage_photos: "Gestionar fotos",
    to_animal: "Volver al animal",
    add_photos: "Añadir fotos",
    photos_hint: "JPEG, PNG, WebP o GIF. Puede elegir varias fotos o hacer una.",
    upload: "Subir",
    save_texts_first: "Pulse «Guardar» antes que «Subir». Al subir no se guardan las descripciones.",
    make_main: "Usar como foto principal",
    move_up: "Mover a la izquierda",
    move_down: "Mover a la derecha",
    turn_left: "Girar a la izquierda",
    turn_right: "Girar a la derecha",
    look_more: "Encuadre",
    look_hint: "Las listas muestran solo una parte de la foto. Pulse la parte que debe verse o elíjala aquí abajo.",
    points: [
        "Sin elegir",
        "Arriba a la izquierda",
        "Arriba",
        "Arriba a la derecha",
        "Izquierda",
        "Centro",
        "Derecha",
        "Abajo a la izquierda",
        "Abajo",
        "Abajo a la derecha",
    ],
    look_at_pressed: "El punto pulsado",
    uploads: [
        "En espera",
        "Subiendo",
        "Esperando la conexión",
        "Añadida",
        "No se ha añadido.",
        "Reintentar",
        "Omitir esta foto",
        "Esta foto pesa demasiado. Elija una más pequeña o avise al administrador del servidor.",
        "No se puede conectar con el servicio.",
        "Se ha cerrado su sesión. Inicie sesión en otra pestaña y pulse de nuevo el botón.",
        "Es la misma imagen que {}.",
        "Un animal puede tener hasta 20 fotos. Sin subir ({}): {}",
        "1 foto añadida.",
        "{} fotos añadidas.",
        "{} sin añadir.",
        "Las fotos se están subiendo. Después se enviará el formulario.",
    ],
    photos: "Fotos",
    photos_after: "Añada primero el animal. Después, abra su página y añada las fotos con «Gestionar fotos».",
    take_photo: "Conservar",
    no_picture: "Este archivo no es una imagen JPEG, PNG, WebP o GIF. Elija otro.",
    picture_too_large: "Esta imagen es demasiado grande. Elija una más pequeña.",
    too_many_pictures: "En este momento hay demasiadas imágenes en espera. Vuelva a intentarlo.",
    photos_not_added: "La sesión ha terminado. Las fotos no se han añadido: inicie sesión y elíjalas de nuevo.",
    heic: "Esta imagen es HEIC. Ponga la cámara en «Más compatible» (en un iPhone: Ajustes, Cámara, Formatos) y haga \
     la foto otra vez, o elija un JPEG.",
    another_member: "Ahora hay otra persona con la sesión iniciada. Inicie su sesión en otra pestaña y pulse de nuevo \
     el botón. Sin JavaScript, elija las fotos otra vez.",
    too_many_photos: "20 de 20 fotos. Elimine una para añadir otra.",
    photo_is_gone: "La foto se eliminará. Tiene un día para deshacerlo.",
    photo_not_kept: "Esta foto no se puede recuperar: se eliminó hace demasiado tiempo. Añádala de nuevo.",
    put_back: "Recuperar",
    photo_added: "Foto añadida",
    photo_turned: "Foto girada",
    photo_deleted: "Foto eliminada",
    photos_moved: "Orden de las fotos cambiado",
    photo_focused: "Encuadre de una foto elegido",
    photo_described: "Foto descrita",
    photo_file_missing: "Falta el archivo de esta foto, así que no se puede girar. Avise al administrador del servidor.",
    photo_of: |number, animal, alt| {
        alt.map_or_else(|| format!("Foto {number} de {animal}"), str::to_owned)
    },
    this_photo: |number, animal| format!("la foto {number} de {animal}"),
    photos_of: |animal| format!("Fotos de {animal}"),
    look_at: |number| format!("Encuadre de la foto {number}"),
    alt_of: |number| format!("Describa la foto {number} (para quienes no pueden verla)"),
    photo_button: |label, number| format!("{label}: foto {number}"),
    photos_lost: |count| {
        let photos = if count == 1 {
            "1 foto ha esperado demasiado o no cabía, y no se añadirá.".to_owned()
        } else {
            format!("{count} fotos han esperado demasiado o no cabían, y no se añadirán.")
        };
        format!("{photos} Elija de nuevo lo que falta y vuelva a enviar el formulario.")
    },
    photos_added: |count| {
        if count == 1 {
            "1 foto añadida.".to_owned()
        } else {
            format!("{count} fotos añadidas.")
        }
    },

    // What the pages ask before they do something, and what they say first afterwards.

    // Categories.
    more_categories: "Para ver otras, abra «Categorías».",
    name_it: "Poner este nombre",
    rename_category: |old, new| format!("¿Cambiar el nombre de la categoría «{old}» a «{new}»?"),
    name_category: |id, label| format!("¿Poner a la categoría {id} el nombre «{label}»?"),
    category_has: |count| {
        let (are, show) = if count == 1 {
            ("está", "mostrará")
        } else {
            ("están", "mostrarán")
        };
        format!(
            "{} {are} en esta categoría y {show} este nombre desde ese momento.",
            animals(count)
        )
    },
    label_taken: |label, id| {
        format!(
            "La categoría {id} ya tiene el nombre «{label}». No se podrían distinguir en ninguna lista."
        )
    },
    cancels: |order| {
        format!("El animal está reservado. Se anulará su reserva, el trámite {order}.")
    },

    // Several animals at once.
    change_verb: "Cambiar",
    move_animals: |count, category| format!("¿Pasar {} a «{category}»?", animals(count)),
    change_animals: |count, label, value| {
        format!("¿Cambiar «{label}» a «{value}» en {}?", animals(count))
    },
    clear_animals: |count, label| format!("¿Quitar «{label}» de {}?", animals(count)),
    reserve_animals: |count, end| format!("¿Reservar {} hasta el {end} inclusive?", animals(count)),
    sell_animals: |count| format!("¿Vender {}?", animals(count)),
    cancel_reservations_of: |count| {
        let reservations = if count == 1 {
            "la reserva"
        } else {
            "las reservas"
        };
        format!("¿Anular {reservations} de {}?", animals(count))
    },
    withdraw_animals: |count, why| {
        format!(
            "¿Registrar la baja de {} ({})?",
            animals(count),
            reason(why).to_lowercase()
        )
    },
    list_animals: |count| format!("¿Publicar {} en el sitio web?", animals(count)),
    unlist_animals: |count| format!("¿Retirar {} del sitio web?", animals(count)),

    // Pasted lines.
    no_heading: "Hay más celdas que columnas.",
    several_lines: "La celda tiene varias líneas. ¿Falta cerrar unas comillas?",
    quote_not_closed: "Unas comillas no están cerradas, o están dentro de una celda sin comillas alrededor. Escriba una celda así: \"Llamado \"\"Max\"\"\", o elimine las comillas.",
    columns: "Columnas",
    leave_out: "Omitir",
    first_line: "La primera fila",
    first_line_is: ["es un animal", "contiene los encabezados"],
    first_line_has_headings: "La primera fila contiene los encabezados",
    first_line_counts: "Por ahora, la primera fila cuenta como un animal.",
    unknown_columns: "¿Qué contienen estas columnas?",
    see_above: "Ver arriba",
    lines_with: |numbers| format!("Filas {numbers}"),
    separator: "Las celdas están separadas por",
    separators: ["una coma", "un punto y coma", "un tabulador"],
    titles_left_out: |titles| {
        format!("Se ha omitido lo que hay encima de los encabezados: {titles}")
    },
    column_ambiguous: |heading, one, other| {
        format!("«{heading}» puede ser «{one}» o «{other}». Elija una de las dos.")
    },
    column: |heading| format!("«{heading}» es"),
    chosen_twice: |label| {
        format!("Hay dos columnas para «{label}». Elija otra cosa para una de ellas.")
    },
    column_missing: |label| format!("Elija qué columna es «{label}»."),
    left_out: |headings| format!("Omitir {headings}"),
    left_out_hint: "Estas columnas no se importarán. Elija qué son o confirme que se omiten:",
    column_number: |number| format!("columna {number}"),
    leave_out_first: "Marque la casilla para omitir las demás columnas o elija qué son.",
    first_lines: |taken, rest| {
        let rest = if rest == 1 {
            "El que falta se queda aquí y pasa".to_owned()
        } else {
            format!("Los otros {} se quedan aquí y pasan", in_digits(rest))
        };
        format!(
            "Se añaden como máximo {} a la vez. {rest} a la siguiente vista previa.",
            animals(taken)
        )
    },
    lines_added: |added| format!("{} Estos son los siguientes.", added_many(added)),
    on_line: |number, why| format!("Fila {number}: {why}"),
    no_category: |number| {
        format!(
            "No existe la categoría {number}. Póngale primero un nombre en la página «Categorías» o corrija el número."
        )
    },
    no_choice: |typed, choices| format!("«{typed}» no es ninguna de las opciones: {choices}."),

    // Settings.
    make_link: "Crear un enlace nuevo",
    revoke_effect: "Desde ese momento se rechaza cualquier programa que use esta clave. Una clave revocada no vuelve a ser válida.",
    really: |verb, what| {
        let what = match what.strip_prefix("para ") {
            _ if what.starts_with("http") && [TEXTS.disable, TEXTS.delete].contains(&verb) => {
                format!("el webhook {what}")
            }
            Some(name) if verb == TEXTS.change_role => format!("de {name}"),
            _ if verb == TEXTS.block_member => format!("a {what}"),
            _ if verb == TEXTS.revoke_key => format!("la clave «{what}»"),
            _ if verb == TEXTS.delete_field => format!("«{what}»"),
            _ => what.to_owned(),
        };
        format!("¿{verb} {what}?")
    },
    disable_member: |name| {
        format!(
            "Se cierran de inmediato todas las sesiones de {name}, que ya no podrá iniciar sesión."
        )
    },
    change_role: "Cambiar el rol",
    role_becomes: |name, old, new| {
        format!(
            "El rol de {name} es ahora «{}» y pasará a ser «{}». {}.",
            role(old),
            role(new),
            what_role_may(new)
        )
    },
    reset_member: |name| {
        format!(
            "Se cierran de inmediato todas las sesiones de {name}. Su contraseña, su segundo factor y sus llaves de acceso dejan de ser válidos. {name} elige una contraseña nueva con el enlace."
        )
    },

    // Forms that several people fill in.
    now_changed: |label, now, was| {
        let was = was.map(|was| if was.is_empty() { "vacío" } else { was });
        let it_was = was
            .map(|was| format!(" (antes: {was})"))
            .unwrap_or_default();
        format!(
            "{label}: ahora es {now}{it_was}. Aún no se ha cambiado nada. Compruebe lo que ha escrito y pulse de nuevo el botón."
        )
    },

    // Forms that outlived their session.
    form_of_another: "Otra persona rellenó este formulario",
    somebody: "Otra persona",
    form_of: |owner, you| {
        format!(
            "{owner} rellenó este formulario, y la sesión abierta es la de {you}. Aún no se ha cambiado nada."
        )
    },
    send_as: |you| format!("Enviar como {you}"),

    // After something was done.
    undo: "Deshacer",
    not_undoable: "Este cambio no se puede deshacer.",
    show_order: "Ver el trámite",
    add_another: "Añadir otro como este",
    reserved_as: |order| format!("Reservado (trámite {order})."),
    sold_as: |order| format!("Vendido (trámite {order})."),
    added_as: |animal| format!("Añadido con el número {animal}."),
    added_about: |animal| {
        format!(
            "Añadido con el número {animal}. Su fecha de nacimiento se ha calculado a partir de la edad."
        )
    },
    added_many,
    undone_many: |count| format!("El cambio de {} se ha deshecho.", animals(count)),
    changed_many: |count| {
        format!(
            "{}.",
            many(count, ["animal modificado", "animales modificados"])
        )
    },
    reservation_cancelled: "Reserva anulada. El animal está disponible.",
    sale_undone: "La venta se ha deshecho.",
    taken_back: "Devolución registrada. El animal está disponible.",
    photo_was_removed: "Foto eliminada.",
    photo_was_turned: "Foto girada.",
    photo_is_back: "Foto recuperada.",
    reservation_extended: "Se ha cambiado el fin de la reserva.",
    undone: "El cambio se ha deshecho.",
    saved: "Guardado.",
    was_withdrawn: "Baja registrada.",
    was_restored: "Baja anulada.",
    was_deleted: "Eliminado.",
    webhook_disabled: "No se le envía nada más.",
    webhook_enabled: "Webhook activado.",
    webhook_tested: "El mensaje de prueba está en camino. Recargue la página dentro de un momento para ver el resultado.",
    password_changed: "Contraseña cambiada. Sus demás sesiones se han cerrado.",
    session_ended: "La sesión se ha cerrado.",
    second_factor_removed: "Segundo factor eliminado. Sus demás sesiones se han cerrado.",
    role_changed: "Rol cambiado.",
    member_disabled: "Este miembro ya no puede iniciar sesión. Sus sesiones se han cerrado.",
    key_revoked: "Clave revocada.",

    // Pages for signing in and for managing accounts, staff and API keys; rejected requests; and open pages.

    // Signing in.
    sign_in: "Iniciar sesión",
    password: "Contraseña",
    code: "Código",
    continue_label: "Continuar",
    sign_in_wrong: "El nombre o la contraseña no son correctos. Compruebe ambos y vuelva a intentarlo.",
    code_hint: "Las seis cifras que muestra su app o uno de sus códigos de recuperación.",
    code_wrong: "Este código no es correcto o ya se ha usado. Espere a que la app muestre el siguiente.",
    sign_in_ended: "Vuelva a iniciar sesión. Se ha tardado demasiado o el código se ha enviado dos veces.",
    form_saved: "Escriba su contraseña para continuar. Lo que ha escrito se conserva y podrá enviarlo después.",
    form_too_long: "Su sesión ha terminado y el texto es demasiado largo para conservarlo aquí. Inicie sesión en otra pestaña, vuelva atrás en esta y envíelo de nuevo.",
    form_not_of_browser: "Este formulario se conservó en otro navegador, o este ha perdido sus cookies desde entonces. Por eso no se ha enviado. Vuelva a la página del formulario y envíelo de nuevo.",
    no_password: "¿Aún no tiene contraseña o la ha olvidado? Un responsable puede darle un enlace.",
    submit_saved_form_hint: "Ha iniciado sesión. Envíe ahora lo que había escrito.",
    submit_saved_form: "Enviar lo escrito",
    discard_saved_form: "No enviarlo",
    changed_meanwhile: "Otra persona ha modificado esto mientras tanto, así que esta vez no se ha cambiado nada. Recargue la página y mire cómo está ahora.",

    // Signing in at a provider, whose host names it.
    provider: "Proveedor",
    link_needed: "Para esto, su inicio de sesión debe ser reciente. Ha iniciado sesión con un enlace: pida otro a un responsable, o cierre la sesión y vuelva a iniciarla.",
    no_passwords: "Aquí no hay contraseñas. Inicie sesión con el botón.",
    sign_in_elsewhere: "Este inicio de sesión ha tardado más de diez minutos, ya se había completado o empezó en otro navegador. Vuelva a iniciar sesión.",
    access_disabled: "Un responsable ha bloqueado su acceso.",
    signed_in: "Ha iniciado sesión",
    signed_in_hint: "Cierre esta pestaña y continúe en la pestaña de la que viene.",
    signed_out_title: "Ha cerrado la sesión",
    role_of_provider: "El rol lo decide el proveedor con el que este miembro inicia sesión. Cámbielo allí.",
    enter_once: "Iniciar sesión una vez con este enlace",
    sign_in_at: |host| format!("Iniciar sesión con {host}"),
    sign_in_in_new_tab: |host| {
        format!(
            "Inicie sesión con {host} en una pestaña nueva y vuelva a esta. Lo que ha escrito sigue aquí; envíelo después."
        )
    },
    provider_unreachable: |host| {
        format!("{host} no responde. Espere un minuto y vuelva a intentarlo.")
    },
    provider_invalid: |host| {
        format!(
            "No se ha podido aceptar la respuesta de {host}. Vuelva a intentarlo. Si se repite, pregunte al administrador del servidor: el motivo está en el registro del servicio."
        )
    },
    sign_in_stopped: |host| {
        format!("{host} ha interrumpido el inicio de sesión. Vuelva a iniciar sesión.")
    },
    no_role: |host| {
        format!(
            "{host} le conoce, pero no le da ningún rol aquí. Pregunte a un responsable o a quien administra sus cuentas."
        )
    },
    identity_of_another: |host| {
        format!(
            "Este enlace es de un miembro y su cuenta de {host} es de otro. Cierre la sesión en {host} y use la cuenta que corresponde al enlace."
        )
    },
    sign_out_at: |host| format!("Cerrar la sesión en {host}"),
    signed_out_hint: |host| format!("Ha cerrado la sesión aquí y ahora también en {host}."),
    signs_in_at: |host| format!("inicia sesión con {host}"),
    link_to_provider: |host| {
        format!(
            "O inicie sesión con {host} de ahora en adelante. Entonces no necesita contraseña aquí."
        )
    },
    enter_once_hint: |host| {
        format!("Si no puede iniciar sesión con {host}, este enlace le deja entrar una vez.")
    },

    // Passwords and links.
    choose_password: "Elija una contraseña",
    new_password: "Contraseña nueva",
    new_password_again: "Repita la contraseña nueva",
    new_password_hint: "Al menos 12 caracteres, por ejemplo, cuatro palabras al azar. Puede pegar la contraseña.",
    passwords_different: "Las dos contraseñas no coinciden. Escriba la misma dos veces.",
    save_password: "Guardar e iniciar sesión",
    link_invalid: "Este enlace no es válido",
    link_invalid_hint: "Ya se ha usado, tiene más de 24 horas o se ha sustituido por otro más reciente. Si ya eligió una contraseña, inicie sesión con ella. Si no, pida otro enlace a un responsable.",

    // Account.
    account: "Su cuenta",
    current_password: "Contraseña actual",
    change_password: "Cambiar la contraseña",
    current_password_wrong: "La contraseña actual no es correcta. Escriba la contraseña con la que inicia sesión ahora.",
    sessions: "Sesiones",
    only_last_sessions: "Solo se muestran las 100 últimas sesiones usadas.",
    language_label: "Idioma",
    language_of_store: |name| format!("El del centro ({})", name.to_lowercase()),
    own_sessions: "Sus sesiones abiertas",
    browser_label: "Navegador",
    ip_address: "Dirección IP",
    last_used: "Último uso",
    this_session: " (esta)",
    browser_on: |browser, system| format!("{browser} en {system}"),
    end_session: "Cerrar",

    // The second factor.
    second_factor: "Segundo factor",
    second_factor_off: "Proteja su cuenta con la verificación en dos pasos: una app del móvil muestra un código.",
    second_factor_required: "Su rol necesita un segundo factor. Configúrelo para continuar.",
    second_factor_stays: "Su rol necesita un segundo factor, así que no puede eliminarlo. Puede configurar otra app.",
    second_factor_set: "Su segundo factor está configurado. Sus demás sesiones se han cerrado.",
    set_up: "Configurar el segundo factor",
    change_second_factor: "Cambiar el segundo factor",
    remove_second_factor: "Eliminar el segundo factor",
    without_second_factor: "Sin segundo factor",
    set_up_app: "Configurar una app",
    open_app: "Abra una app de autenticación en su móvil.",
    scan: "Escanee esta imagen o escriba a mano la clave de configuración.",
    qr_code: "Código QR con la clave de configuración",
    app_code: "Código que muestra la app",
    use_app: "Usar esta app",
    app_code_wrong: "El código no es correcto. Compruebe la hora del móvil y escriba el código que la app muestra ahora.",
    recovery_codes: "Códigos de recuperación",
    new_codes_hint: "Cree códigos de recuperación nuevos si ha usado o perdido alguno. Los anteriores dejan de ser válidos.",
    new_codes: "Crear códigos nuevos",
    codes_replaced: "Estos códigos sustituyen a los anteriores. Sus demás sesiones se han cerrado.",
    codes_hint: "Guarde estos códigos de recuperación donde pueda encontrarlos sin el móvil, por ejemplo, en papel. Cada uno sirve para iniciar sesión una vez. No se vuelven a mostrar.",
    codes_kept: "Los he guardado",

    // Passkeys.
    passkey: "Llave de acceso",
    passkeys: "Llaves de acceso",
    passkeys_short: "Inicie sesión con su huella, su cara o un PIN, sin contraseña.",
    change_passkeys: "Gestionar las llaves",
    passkeys_hint: "Una llave de acceso está en su teléfono, en su ordenador o en una llave de seguridad, y pide su huella, su cara o un PIN. Con ella se inicia sesión sin contraseña. En cuanto tenga una, la contraseña ya no basta: después se pide la llave de acceso o un código de su app. Añada otra en un segundo dispositivo. Si las pierde todas, un responsable puede darle un enlace nuevo.",
    passkey_name: "Nombre de la llave de acceso",
    passkey_name_invalid: "El nombre debe ser una línea de 1 a 60 caracteres.",
    add_passkey: "Añadir una llave de acceso",
    passkeys_full: "Tiene 10 llaves de acceso, que es el máximo. Elimine una antes de añadir otra.",
    passkeys_elsewhere: "Las llaves de acceso no están configuradas para esta dirección. Pregunte al administrador del servidor.",
    sign_in_with_passkey: "Usar una llave de acceso",
    passkey_needed: "Su contraseña es correcta. Use ahora su llave de acceso. Si la ha perdido, pida un enlace nuevo a un responsable.",
    passkey_script: "Las llaves de acceso necesitan JavaScript, y este navegador no lo ejecuta.",
    passkey_unsupported: "Este navegador es demasiado antiguo para las llaves de acceso. Actualícelo o use otro.",
    passkey_stopped: "No se ha usado ninguna llave de acceso: se cerró la ventana del navegador, se tardó demasiado o este dispositivo no tiene ninguna para este sitio. Inténtelo de nuevo.",
    passkey_known: "Este dispositivo ya tiene una llave de acceso para su cuenta.",
    passkey_late: "Ha tardado más de cinco minutos, se envió antes o empezó en otra pestaña. Inténtelo de nuevo.",
    passkey_rejected: "Esta llave de acceso no funciona aquí. Se eliminó o es de otro sitio. Inicie sesión de otra manera.",
    passkey_of_another: "Esta llave de acceso es de otro miembro. Use una de las suyas.",
    passkey_unusable: "No se puede añadir esta llave de acceso. Debe comprobar una huella, una cara o un PIN, y ser nueva. Pruebe con otro dispositivo.",
    passkey_added: "La llave de acceso se ha añadido. Sus demás sesiones se han cerrado.",
    passkey_removed: "La llave de acceso se ha eliminado. Sus demás sesiones se han cerrado.",
    passkey_count: "Contador de la llave de acceso",

    // Staff.
    staff: "Equipo",
    role_label: "Rol",
    state: "Estado",
    you: "usted",
    add_member: "Añadir un miembro",
    password_again: "Para esto hay que repetir la contraseña, porque la escribió hace más de cinco minutos. Lo que ha \
     escrito se conserva y podrá enviarlo después.",
    add_member_button: "Añadir y crear enlace",
    member_name_hint: "Con este nombre se inicia sesión.",
    member_name_invalid: "El nombre debe ser una sola línea de 1 a 64 caracteres.",
    member_name_taken: "Ya hay un miembro con este nombre. Elija otro.",
    too_many_members: "Ya hay 1000 miembros. No se pueden añadir más.",
    own_access: "No puede cambiar su propio rol ni su acceso. Pídaselo a otro responsable.",
    new_link: "Nuevo enlace de acceso",
    disabled_state: "bloqueado:",
    active: "activo",
    active_with_second_factor: "activo, con segundo factor",
    has_link: "tiene un enlace",
    link_expired: "enlace caducado",
    link: "Enlace para elegir la contraseña",
    copy: "Copiar",
    copied: "Copiado",
    secret_kept: "Listo",

    // API keys.
    keys: "Claves de API",
    add_key: "Crear una clave",
    key_name_hint: "El programa o la persona que usa la clave; por ejemplo, su sitio web.",
    key_name_invalid: "El nombre debe ser una sola línea de 1 a 255 caracteres.",
    allows: "Permite",
    what_key_allows: "Qué permite",
    never: "nunca",
    called_get_pet: "aún llama a getPet: ",
    revoked: "revocada: ",
    expired: "caducada: ",
    valid_until: "válida hasta el ",
    valid: "válida",
    rotate_key: "Renovar",
    revoke_key: "Revocar",
    key_not_rotated: "Esta clave ya se había renovado o revocado, o ha caducado.",
    new_key: "Clave de API nueva",
    new_key_hint: "Copie ahora la clave en los ajustes del programa. No se vuelve a mostrar.",

    // Requests that are rejected.
    incomplete_form: "Este formulario está incompleto. Recargue la página y envíelo de nuevo.",
    body_too_large: "Lo que ha enviado es demasiado grande para el servicio.",
    not_accepted: "El servicio no ha aceptado la solicitud.",
    not_allowed: "Su rol no incluye esta página.",
    foreign_host: |host, expected| {
        let remedy = match expected {
            "" => "Pregunte su dirección al administrador del servidor.".to_owned(),
            expected => format!(
                "Ábralo en {expected}. Si ya lo ha hecho, pregunte al administrador del servidor: el registro del servicio dice qué hay que corregir."
            ),
        };
        format!("El panel de gestión no está en {host:.255}. {remedy}")
    },
    needs_https: "El panel de gestión necesita HTTPS, porque una contraseña no debe enviarse sin cifrar. Ábralo con https:// o en la máquina donde se ejecuta.",
    foreign_form: "Este formulario se envió desde otro sitio, así que no se ha procesado. Abra el panel de gestión y envíelo desde allí.",
    foreign_origin: |origin, own| {
        format!(
            "Este formulario se envió desde {origin:.255}, pero la solicitud es para {own:.255}, así que no se ha procesado. Abra el panel de gestión y envíelo desde allí. Si {origin:.255} es el panel de gestión, pregunte al administrador del servidor: el registro del servicio dice qué hay que corregir."
        )
    },
    connection_replaced: "Hay demasiadas conexiones abiertas. Espere un momento y recargue la página.",
    to_first_page: "Ir a la página «Hoy»",
    request: "Referencia del error: ",

    // Open pages.
    page_changed: "Alguien ha cambiado algo en esta página. Seguirá como está mientras la use.",
    offline: "No hay conexión, así que no se ha enviado nada. Lo que ha escrito sigue aquí: inténtelo de nuevo cuando vuelva la conexión.",
    connection_lost: "Se ha perdido la conexión con el servicio. Es posible que esta página no esté al día.",
    signed_out: "Se ha cerrado su sesión, así que es posible que esta página no esté al día. Inicie sesión en otra pestaña o recargue la página.",
    show_change: "1 cambio: mostrarlo",
    show_changes: "{} cambios: mostrarlos",
    reload: "Recargar la página",
    more_follow: "Hay más entradas en la página siguiente.",
    not_in_text: "El carácter de control U+0000 no está permitido. Escriba el texto de nuevo en lugar de pegarlo.",
    newest_first: "Primero los más recientes",
    by_name: "Por nombre",
    by_price: |price| format!("Por {}", price.to_lowercase()),
    youngest_first: "Primero los más jóvenes",
    too_many_to_sort: |most| {
        format!(
            "Solo se pueden ordenar listas de hasta {most} animales. Elija antes un filtro, por ejemplo, una especie."
        )
    },
    stay: "Tiempo aquí",
    longest_first: "Primero los que llevan más tiempo aquí",
    too_many_attempts: |minutes| {
        let minutes = if minutes == 1 {
            "1 minuto".to_owned()
        } else {
            format!("{minutes} minutos")
        };
        format!(
            "Ha habido demasiados intentos de iniciar sesión. Espere {minutes} o pida un enlace a un responsable."
        )
    },
    weak: |weak| {
        match weak {
        WeakPassword::Short => {
            format!(
                "La contraseña debe tener al menos {} caracteres.",
                Password::MIN_LENGTH
            )
        }
        WeakPassword::Long => {
            format!(
                "La contraseña debe tener como máximo {} caracteres.",
                Password::MAX_LENGTH
            )
        }
        WeakPassword::Common => {
            "Esta contraseña es fácil de adivinar: es habitual, repite un carácter o consta casi solo de palabras corrientes o de un nombre. Elija otra, por ejemplo, cuatro palabras al azar."
                .to_owned()
        }
    }
    },
    welcome: |name| html! { "Le damos la bienvenida, " bdi { (name) } ". Elija la contraseña con la que iniciará sesión." },
    you_are: |name, of| html! { "Sesión de " bdi { (name) } " (" (role(of)) ")" },
    second_factor_on: |recovery_codes| {
        let left = if recovery_codes == 1 {
            "Le queda 1 código".to_owned()
        } else {
            format!("Le quedan {recovery_codes} códigos")
        };
        format!("Necesita su app para iniciar sesión. {left} de recuperación.")
    },
    session_in: |browser| format!(" la sesión en {browser}"),
    for_member: |name| format!(" para {name}"),
    role_of: |name| format!("Rol de {name}"),
    give_link: |name| {
        html! {
            "Dé este enlace a " bdi { (name) } " y a nadie más. Es válido durante 24 horas y no se vuelve a "
            "mostrar."
        }
    },
    role,
    what_role_may,
    scope: |scope| match scope {
        Scope::Read => "Consultar animales (solo nombre, categoría y estado)",
        Scope::Write => "Consultar y añadir animales (solo nombre, categoría y estado)",
        Scope::StoreRead => "Consultar animales y trámites (sin los datos de los clientes)",
        Scope::StoreWrite => {
            "Consultar y modificar animales y trámites (con los datos de los clientes)"
        }
        Scope::StoreAdmin => {
            "Todo, incluidos los campos, los webhooks, la actividad y los datos del centro"
        }
    },
    problem: |problem| match problem {
        Problem::NotFound | Problem::OperationRemoved => (
            TEXTS.not_found,
            Some("Esa página no existe."),
            "Compruebe la dirección o vaya a la página «Hoy».",
        ),
        Problem::Internal => (
            "Algo ha fallado",
            Some("Es un error del servicio. No se debe a nada que usted haya escrito."),
            "Vuelva a intentarlo. Si ocurre otra vez, comunique al administrador del servidor la referencia de abajo.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "El servicio está ocupado",
            Some(
                "El servicio no ha podido completar la solicitud. El cambio puede haberse hecho o no.",
            ),
            "Espere un momento y recargue la página. El mismo formulario nunca se procesa dos veces.",
        ),
        Problem::StorageFull => (
            "El disco está lleno",
            Some(
                "El servicio no puede guardar nada, porque el disco de su servidor está lleno. No se ha cambiado nada.",
            ),
            "Pida al administrador del servidor que libere espacio. Después, vuelva atrás y envíe de nuevo el formulario.",
        ),
        Problem::BodyTooLarge => (
            "Demasiado texto",
            None,
            "Vuelva atrás y envíelo en varias partes.",
        ),
        Problem::InsufficientScope => (
            "No permitido",
            None,
            "Vuelva atrás o pregunte a un responsable.",
        ),
        _ => (
            "No ha funcionado",
            None,
            "Vuelva atrás y compruebe lo que ha enviado.",
        ),
    },

    // The store.
    logo: "Logotipo",
    upload_logo: "Imagen del logotipo",
    logo_hint: "Un PNG, JPEG o WebP de 2 MB como máximo. Guarde antes el formulario: al subir la imagen no se guarda lo escrito en él.",
    logo_missing: "Elija primero una imagen.",
    logo_invalid: "El logotipo debe ser una imagen PNG, JPEG o WebP. Elija otro archivo.",
    logo_too_flat: "El logotipo debe tener al menos 16 píxeles de ancho y de alto, ser como máximo 12 veces más ancho que alto y como máximo 3 veces más alto que ancho. Elija otra imagen.",
    picture_problem: |problem| match problem {
        PictureProblem::NoPicture | PictureProblem::OtherFormat { .. } => {
            TEXTS.no_picture.to_owned()
        }
        PictureProblem::Truncated { .. } => {
            "La imagen no está completa: falta el final. Elija el archivo entero.".to_owned()
        }
        PictureProblem::OtherData { .. } => {
            "Después de la imagen hay otros datos. Guárdela otra vez con otro programa.".to_owned()
        }
        PictureProblem::Unreadable => {
            "La imagen está dañada y no se puede leer. Guárdela otra vez con otro programa."
                .to_owned()
        }
        PictureProblem::Metadata { length, most } => {
            let [length, most] = [length, most].map(in_digits);
            format!(
                "La imagen tiene {length} bytes de otros datos y se permiten {most} como máximo. Quítelos o guarde la imagen otra vez con otro programa."
            )
        }
        PictureProblem::ManyPictures { most } => {
            let most = in_digits(most);
            format!("El archivo tiene más de {most} imágenes. Elija un archivo con una sola.")
        }
        PictureProblem::Pixels {
            width,
            height,
            most,
            most_of_side,
        } => {
            let most = in_digits(most);
            format!(
                "La imagen tiene {width} × {height} píxeles. Se permiten {most} en total y {most_of_side} por lado como máximo. Elija una más pequeña."
            )
        }
        PictureProblem::PixelsOfKind {
            width,
            height,
            most,
            format,
        } => {
            let most = in_digits(most);
            format!(
                "La imagen tiene {width} × {height} píxeles y una imagen {format} de este tipo puede tener {most}. Elija una más pequeña o un JPEG que no sea progresivo."
            )
        }
        PictureProblem::Memory => {
            "La imagen necesita demasiada memoria. Elija una con menos píxeles.".to_owned()
        }
        PictureProblem::Time => {
            "La imagen tarda demasiado en leerse. Elija una más pequeña.".to_owned()
        }
        PictureProblem::FlatLogo => TEXTS.logo_too_flat.to_owned(),
    },
    remove_logo: "Quitar el logotipo",
    logo_removed_effect: "Desaparece de todas las páginas. Para mostrarlo de nuevo, vuelva a subirlo.",
    as_shown: "Lo que ve todo el mundo",
    see_website: "Ver el sitio web",
    operator_value: |value| {
        format!("Si se deja vacío, se usa el ajuste del administrador del servidor: {value}.")
    },
    no_currency: "Si se deja vacío, los importes se muestran sin moneda.",
    nameless: |console, website| {
        format!(
            "Si se deja vacío, el panel de gestión muestra «{console}» y el sitio web «{website}»."
        )
    },
    default_is: |value| format!("Si se deja vacío, se usa el valor predeterminado: {value}."),
    store: "Centro",
    change_store: "Cambiar los datos del centro",
    store_hint: "El público ve estos datos en el sitio web; el equipo, aquí y en los documentos impresos. Nada es obligatorio.",
    who_you_are: "Quiénes son ustedes",
    how_to_reach_you: "Cómo contactar con ustedes",
    pages_heading: "Idioma y aspecto",
    paper_heading: "En papel",
    links: "Enlaces",
    links_hint: "Aparecen al final de cada página pública: aviso legal, privacidad, cómo adoptar un animal…",
    more_links: "Más enlaces",
    not_chosen: "Sin elegir",
    store_stale: "Otra persona ha cambiado estos datos al mismo tiempo. Compruebe cómo están ahora y guarde de nuevo.",
    link_label_invalid: "Un enlace debe tener un texto de 1 a 60 caracteres. Escríbalo o vacíe los dos campos del enlace.",
    link_url_invalid: "La dirección de un enlace debe empezar por https://, sin espacios, sin nombre de usuario antes de una @ y con 500 caracteres como máximo. Corríjala o vacíe los dos campos del enlace.",
    several_urls: "Este campo contiene varias direcciones. Escriba cada enlace en sus propios campos.",
    pick_colour: "Elegir un color",
    link_label: |number| format!("Texto del enlace {number}"),
    link_url: |number| format!("Dirección del enlace {number}"),
    member_name: [
        "Nombre",
        "Aparece en la parte superior de cada página.",
        "El nombre debe tener 120 caracteres como máximo. Acórtelo o déjelo vacío.",
    ],
    member_kind: [
        "Tipo",
        "Determina los términos que usa el programa: «adoptado» y «tasa de adopción» en una protectora; «vendido» y «precio» en una tienda.",
        "El tipo debe ser una tienda o una protectora. Elija uno de los dos o ninguno.",
    ],
    member_about: [
        "Presentación",
        "Unas frases para la página de inicio de su sitio web; 2000 caracteres como máximo.",
        "El texto de presentación debe tener 2000 caracteres como máximo. Acórtelo o déjelo vacío.",
    ],
    member_contract: [
        "Contrato",
        "Se imprime con el trámite, encima de las líneas para las firmas. No aparece en el sitio web. Al imprimirlo se sustituyen {animal} por el nombre del animal, {store} por el nombre del centro, {microchip} por el número de microchip del animal, {fee} por el precio, {adopter} por el nombre del cliente y {date} por la fecha de la venta o, si no la hay, por la de hoy. Si falta un dato, queda una línea para rellenar. Deje una línea en blanco entre párrafos; 4000 caracteres como máximo.",
        "El contrato debe tener 4000 caracteres como máximo. Acórtelo o déjelo vacío.",
    ],
    member_email: [
        "Correo electrónico",
        "",
        "La dirección de correo debe tener la forma nombre@example.org, sin espacios y con 254 caracteres como máximo. Corríjala o déjela vacía.",
    ],
    member_telephone: [
        "Teléfono",
        "",
        "El número de teléfono debe tener de 3 a 40 caracteres, al menos 3 de ellos cifras; se permiten cifras, espacios y + - ( ) / . Corríjalo o déjelo vacío.",
    ],
    member_contact_page: [
        "Página de contacto",
        "La dirección de la página de su formulario de contacto. Empieza por https://. Si la dirección debe llevar el número del animal, escriba {id} donde vaya ese número.",
        "La página de contacto debe ser una dirección que empiece por https://, sin espacios, sin nombre de usuario antes de una @, sin {id} en el nombre del servidor y con 500 caracteres como máximo. Corríjala o déjela vacía.",
    ],
    member_address: [
        "Dirección",
        "Línea por línea, como en un sobre; 500 caracteres como máximo.",
        "La dirección debe tener 500 caracteres como máximo. Acórtela o déjela vacía.",
    ],
    member_hours: [
        "Horario",
        "Línea por línea, como en la puerta; 500 caracteres como máximo.",
        "El horario debe tener 500 caracteres como máximo. Acórtelo o déjelo vacío.",
    ],
    member_language: [
        "Idioma",
        "",
        "El idioma debe ser uno de la lista. Elija uno de ellos o ninguno.",
    ],
    member_time_zone: [
        "Zona horaria",
        "Los días empiezan y terminan según la hora de esta zona: en la página «Hoy», en las edades, en las reservas y en el sitio web. Si no se elige ninguna, las horas se muestran según cada dispositivo y los días cambian a medianoche UTC.",
        "La zona horaria debe ser una de la lista. Elija una de ellas o ninguna.",
    ],
    member_currency: [
        "Moneda",
        "Por ejemplo, EUR, €, GBP, USD o CHF.",
        "Esta moneda no se reconoce o no está clara. Escriba tres letras, como EUR, o un símbolo que sea de una sola moneda, como €. También puede dejarla vacía.",
    ],
    member_colour: [
        "Color",
        "El color de los botones y enlaces del sitio web: elíjalo abajo o escriba su nombre (por ejemplo, verde) o su código (por ejemplo, #2f6f4f).",
        "No se reconoce este color. Elija uno abajo, o escriba un nombre como verde, o # con seis cifras o letras de la a a la f. También puede dejarlo vacío.",
    ],
    zone_of_device: "Este dispositivo",
    zone_regions: [
        "África",
        "América",
        "Antártida",
        "Ártico",
        "Asia",
        "Atlántico",
        "Australia",
        "Europa",
        "Océano Índico",
        "Pacífico",
    ],
    store_kind: |kind| match kind {
        StoreKind::Shop => "Tienda",
        StoreKind::Shelter => "Protectora",
    },

    // Moments in words.
    just_now: "ahora mismo",
    tomorrow: "mañana",
    yesterday: "ayer",
    ago: |count, unit| format!("hace {}", span(count, unit)),
    ahead: |count, unit| format!("dentro de {}", span(count, unit)),
    soon: "en menos de un minuto",
    doubted_clock: |now, confirmed, hours| {
        format!(
            "El reloj del servidor marca {now}, pero la última hora confirmada es {confirmed}. Ninguna reserva vence hasta que se aclare. Avise al administrador del servidor: debe corregir el reloj o, si es correcto, ejecutar «petstore clock confirm». Si el reloj sigue avanzando con regularidad, se dará por correcto dentro de {hours} h."
        )
    },
    shelter_fields: "Más campos para una protectora",
    shelter_fields_hint: "Con un clic se añaden estos campos. Al principio están vacíos; los demás datos de los animales no cambian.",
    add_shelter_fields: "Añadir estos campos",
    by_place: |place| format!("Por {}", place.to_lowercase()),
    store_labels: "Nombres visibles de los campos en el idioma del centro",
    store_labels_hint: "Los nombres que alguien ha cambiado se quedan como están. Los datos de los animales no cambian.",
    labels_with_language: "Poner también los nombres visibles de los campos, como «Especie» y «Sexo», en este idioma",
    write_labels: "Aplicar estos nombres",
    no_backup: "Todavía no hay ninguna copia de seguridad. Pida al administrador del servidor que las active.",
    old_backup: |at| {
        format!(
            "La última copia de seguridad es del {at}. Avise al administrador del servidor: el registro del servicio explica por qué no hay otra más reciente."
        )
    },
};

fn status(status: PetStatus) -> &'static str {
    match status {
        PetStatus::Available => "Disponible",
        PetStatus::Pending => "Reservado",
        PetStatus::Sold => "Vendido",
    }
}

fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "Reservado",
        OrderStatus::Completed => "Vendido",
        OrderStatus::Cancelled => "Anulado",
        OrderStatus::Expired => "Vencido",
        OrderStatus::Returned => "Devuelto",
    }
}

fn reason(reason: WithdrawalReason) -> &'static str {
    match reason {
        WithdrawalReason::Died => "Fallecimiento",
        WithdrawalReason::Transferred => "Traslado a otra tienda o protectora",
        WithdrawalReason::Reclaimed => "Recuperado por su dueño",
        WithdrawalReason::Mistake => "Añadido por error",
        WithdrawalReason::Other => "Otro motivo",
    }
}

fn change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Añadido",
        ChangeType::PetChanged => "Modificado",
        ChangeType::PetWithdrawn => "Baja registrada",
        ChangeType::PetRestored => "Baja anulada",
        ChangeType::OrderPlaced => "Reservado",
        ChangeType::OrderChanged => "Trámite modificado",
        ChangeType::OrderCompleted => "Vendido",
        ChangeType::OrderCancelled => "Reserva anulada",
        ChangeType::OrderExpired => "Reserva vencida",
        ChangeType::OrderReturned => "Devuelto",
        ChangeType::OrderReopened => "Reservado de nuevo",
        ChangeType::CategoryChanged => "Categoría añadida o renombrada",
        ChangeType::CategoryDeleted => "Categoría eliminada",
        ChangeType::NoteAdded => "Nota añadida",
        ChangeType::NoteChanged => "Nota corregida",
        ChangeType::NoteDeleted => "Nota eliminada",
        ChangeType::PetsImported => "Importado",
    }
}

fn animals(count: usize) -> String {
    many(count, ["animal", "animales"])
}

fn many(count: usize, [one, several]: [&str; 2]) -> String {
    format!(
        "{} {}",
        in_digits(count),
        if count == 1 { one } else { several }
    )
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Available => "Está disponible.".to_owned(),
        PetStatus::Pending => "Ya está reservado.".to_owned(),
        PetStatus::Sold => "Ya está vendido.".to_owned(),
    }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Animal añadido",
        ChangeType::PetChanged => "Animal modificado",
        ChangeType::PetWithdrawn => "Animal dado de baja",
        ChangeType::PetsImported => "Animales importados",
        ChangeType::OrderPlaced => "Animal reservado",
        ChangeType::OrderCompleted => "Animal vendido",
        ChangeType::OrderReturned => "Animal devuelto",
        ChangeType::OrderReopened => "Trámite reabierto",
        other => change(other),
    }
}

fn days(count: u64) -> String {
    if count == 1 {
        "1 día".to_owned()
    } else {
        format!("{count} días")
    }
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "¿Vendido por error? Pasarlo a reservado",
        OrderStatus::Cancelled => "¿Anulado por error? Pasarlo a reservado",
        _ => "Pasarlo a reservado",
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    let is = match status {
        OrderStatus::Reserved => "sigue reservado",
        OrderStatus::Completed => {
            "ya está cerrado como venta, y el animal se ha modificado desde entonces"
        }
        OrderStatus::Cancelled => "ya está anulado",
        OrderStatus::Expired => "ha vencido",
        OrderStatus::Returned => "ya se devolvió",
    };
    format!("El trámite {id} {is}. Esta vez no se ha cambiado nada.")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "consulta",
        Role::Clerk => "edición",
        Role::Manager => "responsable",
    }
}

fn what_role_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Consulta: puede ver, pero no modificar",
        Role::Clerk => "Edición: puede modificar animales y trámites",
        Role::Manager => {
            "Responsable: además ve la actividad y puede cambiar todos los ajustes, incluidos el equipo y las claves de API"
        }
    }
}

fn span(count: i64, unit: Unit) -> String {
    let unit = match unit {
        Unit::Minute => "minuto",
        Unit::Hour => "hora",
        Unit::Day => "día",
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn added_many(count: usize) -> String {
    format!("{}.", many(count, ["animal añadido", "animales añadidos"]))
}

/// The Spanish texts of the pages for the staff that a shelter has in other words than a shop.
pub(crate) mod shelter {
    use super::{animals, days};
    use crate::console::Texts;
    use petstore_domain::{
        PetStatus, Scope,
        store_area::{ActType, ChangeType, OrderStatus, SubjectKind, WithdrawalReason},
    };

    pub(crate) static TEXTS: Texts = Texts {
        reference_hint: "Un número de la protectora, como el de un contrato o un recibo. No escriba aquí datos del adoptante.",
        sold_at: "Adoptado el",
        sold_today: "Adoptados hoy",
        all_sales: "Todas las adopciones",
        sell_more: "Marcar como adoptado…",
        sell: "Marcar como adoptado",
        sell_now: "Marcar ahora como adoptado",
        take_back_hint: "El adoptante devuelve el animal, que queda de nuevo disponible.",
        sold_without_order: "Se marcó como adoptado sin ningún trámite. Para corregirlo, edite su estado.",
        pending_without_order: "Se marcó como reservado sin ningún trámite, así que la reserva no tiene fin. Resérvelo aquí para ponerle uno, registre su adopción o edite su estado.",
        find_order: "Buscar un trámite por adoptante, teléfono, animal, referencia o número",
        no_orders_hint: "Abra un animal para reservarlo o registrar su adopción.",
        signature: "Firma del adoptante",
        signature_of_store: "Firma por la protectora",
        contract_heading: "Contrato de adopción",
        store: "Protectora",
        change_store: "Cambiar los datos de la protectora",
        store_labels: "Nombres visibles de los campos en el idioma de la protectora",
        language_of_store: |name| format!("El de la protectora ({})", name.to_lowercase()),
        status_invalid: "El estado debe ser disponible, reservado o adoptado.",
        member_contract: [
            super::TEXTS.member_contract[0],
            "Se imprime con el trámite, encima de las líneas para las firmas. No aparece en el sitio web. Al imprimirlo se sustituyen {animal} por el nombre del animal, {store} por el nombre de la protectora, {microchip} por el número de microchip del animal, {fee} por la tasa de adopción, {adopter} por el nombre del adoptante y {date} por la fecha de la adopción o, si no la hay, por la de hoy. Si falta un dato, queda una línea para rellenar. Deje una línea en blanco entre párrafos; 4000 caracteres como máximo.",
            super::TEXTS.member_contract[2],
        ],
        act: |kind| match kind {
            ActType::ProfileChanged => "Datos de la protectora modificados",
            other => super::TEXTS.act(other),
        },
        subject: |kind| match kind {
            SubjectKind::Profile => "Protectora",
            other => super::TEXTS.subject(other),
        },
        withdraw_animals: |count, why| {
            format!(
                "¿Registrar la baja de {} ({})?",
                animals(count),
                reason(why).to_lowercase()
            )
        },
        reason,
        scope: |scope| match scope {
            Scope::StoreRead => "Consultar animales y trámites (sin los datos de los adoptantes)",
            Scope::StoreWrite => {
                "Consultar y modificar animales y trámites (con los datos de los adoptantes)"
            }
            Scope::StoreAdmin => {
                "Todo, incluidos los campos, los webhooks, la actividad y los datos de la protectora"
            }
            other => super::TEXTS.scope(other),
        },
        any_status: "En la protectora",
        also_sold: "En la protectora o adoptados",
        add_sold: "Incluir los adoptados",
        reserve_or_sell: "Reservar o marcar como adoptado…",
        price: "Tasa de adopción",
        contact: "Adoptante",
        contact_of: |_| TEXTS.contact,
        contact_changed: "Datos del adoptante modificados o eliminados",
        price_of_each: "Tasa de adopción por animal (si se deja vacía, cada uno conserva la suya)",
        status: |status| {
            if status == PetStatus::Sold {
                "Adoptado"
            } else {
                super::status(status)
            }
        },
        order_status: |status| {
            if status == OrderStatus::Completed {
                "Adoptado"
            } else {
                super::order_status(status)
            }
        },
        change: |kind| {
            if kind == ChangeType::OrderCompleted {
                "Adoptado"
            } else {
                super::change(kind)
            }
        },
        audited_change: |kind| match kind {
            ChangeType::OrderCompleted => "Animal adoptado",
            other => super::audited_change(other),
        },
        is_in_status: |status| match status {
            PetStatus::Sold => "Ya está adoptado.".to_owned(),
            other => super::is_in_status(other),
        },
        contact_hint: |kept| {
            format!(
                "Por ejemplo, un nombre y un teléfono. Estos datos se eliminan {} después de la adopción o del fin de la reserva.",
                days(kept)
            )
        },
        no_order_found_hint: |kept| {
            format!(
                "Revise la ortografía. Los datos del adoptante de un trámite cerrado se conservan {}.",
                days(kept)
            )
        },
        sum_of: |status, count, sum| {
            let what = match (status, count) {
                (OrderStatus::Completed, 1) => "adopción",
                (OrderStatus::Completed, _) => "adopciones",
                (_, 1) => "reserva",
                _ => "reservas",
            };
            format!("{count} {what} con tasa, {sum} en total")
        },
        reopen: |status| match status {
            OrderStatus::Completed => "¿Marcado como adoptado por error? Pasarlo a reservado",
            other => super::reopen(other),
        },
        order_is: |id, status| match status {
            OrderStatus::Completed => format!(
                "El trámite {id} ya está cerrado como adopción, y el animal se ha modificado desde entonces. Esta vez no se ha cambiado nada."
            ),
            other => super::order_is(id, other),
        },
        sell_animals: |count| {
            let adopted = if count == 1 { "adoptado" } else { "adoptados" };
            format!("¿Marcar {} como {adopted}?", animals(count))
        },
        sold_as: |order| format!("Adoptado (trámite {order})."),
        sale_undone: "La adopción se ha deshecho.",
        orders: "Adopciones",
        search_orders: |typed| format!("Buscar «{typed}» en Adopciones"),
        ..super::TEXTS
    };

    fn reason(reason: WithdrawalReason) -> &'static str {
        match reason {
            WithdrawalReason::Transferred => "Traslado a otra protectora",
            other => super::reason(other),
        }
    }
}
