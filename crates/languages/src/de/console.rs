//! The texts in German of the pages for the staff.

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

use crate::{console::Texts, de::window::in_digits, declaration::Unit};

pub(crate) static TEXTS: Texts = Texts {
    language: "de-DE",
    site: "Petstore",
    skip: "Zum Inhalt springen",
    main_menu: "Hauptmenü",
    sign_out: "Abmelden",
    today: "Heute",
    animals_heading: "Tiere",
    add: "Hinzufügen",
    orders: "Vorgänge",
    activity: "Protokoll",
    website: "Website",
    public_page: "Öffentliche Seite ansehen",
    settings: "Einstellungen",
    categories: "Kategorien",
    webhooks: "Webhooks",
    error_prefix: "Fehler: ",
    problem_heading: "Es gibt ein Problem",
    go_back: "Zurück",
    cancel: "Abbrechen",
    next_page: "Nächste Seite",
    first_page: "Erste Seite",
    no_name: "(ohne Namen)",
    actions: "Aktionen",

    // Values.
    name: "Name",
    number: "Nummer",
    category_number_label: "Kategorienummer",
    category: "Kategorie",
    status_label: "Status",
    added_at: "Hinzugefügt",
    changed_at: "Letzte Änderung",
    staff_member: "jemand vom Team",
    program: |name| format!("Programm „{name}“"),
    a_program: "ein Programm",
    the_service: "der Dienst",
    the_operator: "Betreiber des Dienstes",
    reference: "Belegnummer",
    reference_hint: "Ihre eigene Nummer, z.\u{a0}B. die der Rechnung oder des Vertrags. Bitte keine Namen eintragen.",
    note: "Notiz",
    reason_label: "Grund",
    optional: "(optional)",
    until: "Reservieren bis einschließlich",
    category_hint: "Wählen Sie eine Kategorie oder geben Sie ihre Nummer ein.",
    animal: "Tier",
    order: "Vorgang",
    placed_at: "Angelegt",
    ends: "Endet",
    ends_or_closed: "Datum",
    closed_at: "Abgeschlossen",
    sold_at: "Verkauft am",
    before_number: ["#", "nr.", "nr", "nummer", "tier", "vorgang"],

    // Today.
    find_label: "Tier suchen: Name, Nummer, Chipnummer, Rasse, Farbe\u{a0}…",
    find: "Suchen",
    ending_today: "Heute",
    ending_tomorrow: "Morgen",
    ending_later: "Übermorgen",
    call: "Anrufen",
    ending: "Reservierungen, die bald enden",
    none_ending: "In den nächsten drei Tagen endet keine Reservierung.",
    sold_today: "Heute verkauft",
    all_sales: "Alle Verkäufe",
    incomplete: "In den letzten 7 Tagen hinzugefügt, noch ohne Foto oder Chip",
    no_photo: "kein Foto",
    no_chip: "kein Chip",
    newest_animals: "Neueste Tiere",
    shown_of: |shown, count| format!("{shown} von {count}"),
    counting: "zählt\u{a0}…",
    all_reservations: "Alle Reservierungen",
    empty_store: "Noch keine Tiere",
    empty_store_hint: "Fügen Sie das erste hinzu oder übernehmen Sie viele aus einer Tabelle.",
    add_animals: "Tiere hinzufügen",
    numbers: "Anzahl der Tiere",
    first_steps: "Erste Schritte",
    step_store: "Sich vorstellen: Name, Sprache, Logo, Anschrift und Öffnungszeiten",
    step_animal: "Ein Tier hinzufügen",
    step_import: "Tiere aus einer Tabelle übernehmen",
    step_colleague: "Jemanden aus dem Team hinzufügen",
    step_window: "Die öffentlichen Seiten Ihrer Tiere ansehen",
    no_steps: "Diese Schritte nicht mehr anzeigen",

    // Animal.
    edit: "Bearbeiten",
    save: "Speichern",
    reserve_more: "Reservieren\u{a0}…",
    sell_more: "Verkaufen\u{a0}…",
    reserve: "Reservieren",
    sell: "Verkaufen",
    sell_now: "Jetzt verkaufen",
    cancel_reservation: "Reservierung stornieren",
    take_back_more: "Rückgabe eintragen\u{a0}…",
    take_back: "Rückgabe eintragen",
    take_back_hint: "Der Kunde bringt das Tier zurück. Es ist dann wieder verfügbar.",
    new_intake: "Auch die neue Aufnahme eintragen, mit heutigem Datum",
    sold_without_order: "Das Tier wurde ohne Vorgang als verkauft eingetragen. Zum Korrigieren ändern Sie seinen Status.",
    pending_without_order: "Das Tier wurde ohne Vorgang als reserviert eingetragen, deshalb hat die Reservierung kein \
     Ende. Reservieren Sie es hier, um ein Ende festzulegen, verkaufen Sie es oder ändern Sie seinen Status.",
    withdraw: "Sonstigen Abgang eintragen",
    withdraw_more: "Sonstigen Abgang eintragen\u{a0}…",
    withdraw_hint: "Das Tier verschwindet von der Website und aus den üblichen Listen. Sein Verlauf bleibt erhalten, und der Abgang lässt sich rückgängig machen.",
    restore: "Abgang rückgängig machen",
    restore_hint: "Das Tier steht dann wieder wie vorher in den Listen.",
    choose: "Grund wählen",
    history: "Verlauf",
    older: "Ältere Einträge",
    whole_before: "Vollständiger Text vor der Änderung",
    no_history: "Es sind keine Änderungen verzeichnet.",
    new_note: "Neue Notiz",
    new_note_hint: "Etwa zum Verhalten oder zu einem Anruf. Nur das Team sieht Notizen.",
    add_note: "Notiz hinzufügen",
    correct_note: "Ändern oder löschen",
    note_on: |animal| format!("Notiz zu {animal}"),
    note_corrected: "geändert",
    note_corrected_by: |name| format!("geändert von {name}"),
    note_missing: "Schreiben Sie zuerst etwas.",
    no_note: "Diese Notiz wurde gelöscht.",
    not_your_note: "Ändern kann die Notiz nur die Leitung oder wer sie geschrieben hat.",
    too_many_notes: "Dieses Tier hat schon 500 Notizen. Löschen Sie einige, die nicht mehr gebraucht werden.",
    delete_note: "Notiz löschen",
    delete_note_question: "Diese Notiz löschen?",
    delete_note_effect: "Der Text ist dann endgültig weg und lässt sich nicht wiederherstellen.",
    note_was_added: "Notiz hinzugefügt.",
    note_was_changed: "Notiz geändert.",
    note_was_deleted: "Notiz gelöscht.",
    status_held: "Das Tier gehört zu einem Vorgang. Um seinen Status zu ändern, öffnen Sie den Vorgang.",

    // Conflict.
    conflict: "Jemand anders hat dieses Tier geändert",
    conflict_hint: "Es wurde geändert, während Sie es bearbeitet haben. Ihre Änderungen sind noch nicht gespeichert. \
     Vergleichen Sie beide Fassungen, passen Sie Ihre bei Bedarf an und wählen Sie dann eine.",
    theirs: "Jetzt gespeichert",
    yours: "Ihre Angaben",
    save_mine: "Meine speichern",
    keep_theirs: "Gespeichertes behalten",
    different: "abweichend",

    // Add.
    add_one: "Ein Tier",
    add_many: "Mehrere aus einer Tabelle",
    add_animal: "Tier hinzufügen",
    add_to_number: "Unter dieser Nummer hinzufügen, ohne Kategorienamen",
    paste: "Zeilen der Tabelle",
    paste_hint: "Kopieren Sie die Zeilen und fügen Sie sie hier ein: ein Tier pro Zeile, mit Name und \
     Kategorie. Wenn in der ersten Zeile Überschriften stehen, können auch der Status und weitere Felder dabei sein. \
     Fehlt die Kategorie, ergibt sie sich aus der Tierart. Sie sehen eine Vorschau, bevor etwas hinzugefügt wird.",
    preview: "Vorschau",
    line: "Zeile",
    check: "Prüfung",
    fine: "OK",
    preview_hint: "Noch ist nichts hinzugefügt. Es werden entweder alle hinzugefügt oder keines.",
    change_lines: "Zeilen bearbeiten",
    preview_again: "Neue Vorschau",

    // Orders.
    find_order: "Vorgang suchen: Kunde, Telefon, Tier, Belegnummer oder Vorgangsnummer",
    find_order_by_animal: "Vorgang suchen: Tier, Belegnummer oder Vorgangsnummer",
    no_orders: "Hier gibt es keine Vorgänge",
    no_orders_hint: "Öffnen Sie ein Tier, um es zu reservieren oder zu verkaufen.",
    no_order_found: "Kein Vorgang gefunden",
    all: "Alle",
    print: "Drucken",
    place_and_date: "Ort, Datum",
    signature: "Unterschrift des Kunden",
    signature_of_store: "Unterschrift des Betriebs",
    contract_heading: "Kaufvertrag",
    contract_name: "Name",
    contract_address: "Anschrift",
    unknown_placeholder: |name| {
        format!(
            "Im Vertrag sind {{animal}}, {{store}}, {{microchip}}, {{fee}}, {{adopter}} und {{date}} möglich, aber nicht {name}. Korrigieren Sie das oder entfernen Sie die Klammern."
        )
    },
    shown_here: "Auf dieser Seite:",
    only_first: "Angezeigt werden die 100 Reservierungen, die zuerst enden.",

    // Problems.
    no_pet: "Es gibt kein Tier mit dieser Nummer.",
    no_order: "Es gibt keinen Vorgang mit dieser Nummer.",
    not_found: "Nicht gefunden",
    name_too_long: "Der Name ist zu lang.",
    name_missing: "Geben Sie den Namen des Tieres ein.",
    category_missing: "Geben Sie die Kategorie ein.",
    status_invalid: "Der Status muss verfügbar, reserviert oder verkauft sein.",
    reason_missing: "Wählen Sie einen Grund.",
    day_invalid: "Geben Sie heute oder einen späteren Tag ein, höchstens 400 Tage von heute an.",
    none_selected: "Wählen Sie zuerst mindestens ein Tier aus.",
    nothing_pasted: "Fügen Sie mindestens eine Zeile ein.",
    stale: "Jemand anders hat inzwischen etwas geändert, deshalb wurde Ihre Änderung nicht ausgeführt. \
     Sehen Sie sich den aktuellen Stand an und versuchen Sie es noch einmal.",
    nothing_changed: "Es wurde nichts geändert. Bei diesen Tieren ist es nicht möglich:",
    undone_without: "Die anderen Tiere haben wieder ihren alten Wert. Diese bleiben, wie sie sind:",
    status,
    withdrawn: "Sonstiger Abgang",
    departures: "Sonstiger Abgang",
    withdrawn_filter: "Sonstige Abgänge",
    status_below: |count, status| {
        if status == TEXTS.departures && count != 1 {
            Cow::Borrowed("Sonstige Abgänge")
        } else {
            Cow::Borrowed(status)
        }
    },
    overdue: "Überfällig",
    order_status,
    reason,
    extended: "Reservierung verlängert",
    renamed: "Kategorie umbenannt",
    change,
    animals,
    more_than: |count| format!("Mehr als {}", animals(count)),
    first_shown: |count| {
        if count == 1 {
            "Das erste Tier wird angezeigt.".to_owned()
        } else {
            format!("Die ersten {} werden angezeigt.", animals(count))
        }
    },
    title_of_order: |id| format!("Vorgang {id}"),
    this_order: |id| format!("Vorgang {id}"),
    labels: |all| {
        let (last, others) = all
            .split_last()
            .map_or(("", all), |(last, others)| (*last, others));
        let others = others.join(", ");
        if others.is_empty() {
            last.to_owned()
        } else {
            format!("{others} und {last}")
        }
    },
    too_long: |label, most| {
        let thousands = if most < 1_000 {
            String::new()
        } else {
            format!("{}.", most / 1_000)
        };
        let width = if most < 1_000 { 0 } else { 3 };
        let rest = most % 1_000;
        format!("{label}: Geben Sie höchstens {thousands}{rest:0width$} Zeichen ein.")
    },
    form_too_large: |most| {
        format!(
            "Das Formular hat mehr als {} Felder, deshalb wurde nichts gelesen. Gehen Sie zurück und senden Sie weniger auf einmal.",
            in_digits(most)
        )
    },
    select: |name| format!("{name} auswählen"),
    add_count: |count| format!("{} hinzufügen", animals(count)),
    wrong_lines: |count| {
        if count == 1 {
            "1 Zeile stimmt noch nicht. Korrigieren Sie sie unten und sehen Sie sich die neue Vorschau an."
                .to_owned()
        } else {
            format!(
                "{count} Zeilen stimmen noch nicht. Korrigieren Sie sie unten und sehen Sie sich die neue Vorschau an."
            )
        }
    },
    add_with_category: |label| format!("Tier und Kategorie „{label}“ hinzufügen"),
    unknown_category: |text| {
        format!(
            "Es gibt keine Kategorie „{text}“. Wählen Sie eine aus der Liste oder geben Sie ihre Nummer ein."
        )
    },
    ambiguous_category: |text, one, other| {
        format!(
            "Mehrere Kategorien heißen „{text}“. Geben Sie die Nummer ein, z.\u{a0}B. {one} oder {other}."
        )
    },
    category_prefix: "Kategorie ",
    category_number: |id| format!("Kategorie {id}"),
    changed_by: |name| format!("Zuletzt geändert: {name}"),
    is_withdrawn: "Für das Tier ist ein Abgang eingetragen. Machen Sie ihn zuerst rückgängig.",
    withdraw_animal: |name| format!("Abgang von {name} eintragen?"),
    has_no_reservation: "Es ist nicht reserviert.",
    is_gone: "Es ist nicht mehr vorhanden.",
    is_reserved: |order| format!("Es ist mit Vorgang {order} reserviert."),
    animal_is_reserved: |order| format!(" Das Tier ist mit Vorgang {order} reserviert."),
    is_in_status,

    // Categories.
    no_categories: "Noch hat keine Kategorie einen Namen",
    no_categories_hint: "Geben Sie der ersten einen Namen, z.\u{a0}B. Hunde. Dann können alle sie unter diesem Namen wählen.",
    name_category_heading: "Kategorie hinzufügen oder umbenennen",
    category_number_hint: "Eine freie Nummer ist eingetragen. Um eine Kategorie umzubenennen, geben Sie ihre Nummer und den neuen Namen ein.",
    label_missing: "Geben Sie den Namen der Kategorie ein.",
    label_invalid: "Geben Sie 1 bis 255 Zeichen ein.",
    no_free_number: "Es wurde keine freie Nummer gefunden. Geben Sie auf der Seite „Kategorien“ eine Nummer ein.",
    number_invalid: "Geben Sie eine ganze Zahl ein.",

    // Adding one animal.
    category_of_species: "Ohne Angabe kommt das Tier in die übliche Kategorie seiner Tierart. Fehlt diese, wird sie angelegt.",
    species_or_category: "Wählen Sie eine Tierart oder eine Kategorie.",
    or_about: "Oder ungefähres Alter",
    about_hint: "Zum Beispiel 2 Jahre oder 8 Monate; eine Zahl allein gilt als Jahre.",
    ages_typed: [
        "j jhr jahr jahre jahren",
        "m mon monat monate monaten",
        "w wo woche wochen",
    ],
    age_invalid: "Geben Sie das Alter in Jahren ein, z.\u{a0}B. 2, oder mit Einheit, z.\u{a0}B. 8 Monate oder 10 Wochen.",
    birth_too_early: "Das ist mehr als 150 Jahre her. Geben Sie ein Alter von höchstens 150 Jahren oder ein späteres Geburtsdatum ein.",
    born_or_age: "Geben Sie entweder das Geburtsdatum oder das Alter ein und lassen Sie das andere leer.",

    // The texts about fields and their values.
    fields: "Felder",
    fields_hint: "Felder beschreiben Ihre Tiere. Sie erscheinen in den Formularen und auf den Seiten der Tiere; auch andere Programme können sie nutzen.",
    more_fields: "Weitere Felder",
    any_value: "Alle",
    no_value: "–",
    field_label: "Bezeichnung",
    field_label_hint: "So wird das Feld angezeigt, z.\u{a0}B. Rasse.",
    field_name: "Technischer Name",
    field_name_hint: "Kleinbuchstaben (a–z), Ziffern und Unterstriche, z.\u{a0}B. fell_laenge. Ohne Angabe wird er aus der Bezeichnung gebildet. Er ist später nicht mehr änderbar.",
    field_name_invalid: "Geben Sie einen technischen Namen ein: 1 bis 32 Kleinbuchstaben (a–z), Ziffern und Unterstriche, davon als Erstes ein Buchstabe.",
    field_name_taken: "Ein anderes Feld hat schon diesen technischen Namen. Geben Sie einen anderen ein.",
    field_label_taken: "Ein anderes Feld hat schon diese Bezeichnung. Beide würden in allen Formularen gleich aussehen. Geben Sie eine andere ein.",
    field_kind: "Typ",
    choose_kind: "Typ wählen",
    field_label_invalid: "Geben Sie eine Bezeichnung mit 1 bis 255 Zeichen ein.",
    field_kind_missing: "Wählen Sie einen Typ.",
    field_choices: "Auswahlwerte",
    more_choices: "Weitere Auswahlwerte",
    remove_choice: "Entfernen",
    field_labels_hint: "Zum Umbenennen ändern Sie hier den Text: Die Tiere bleiben unverändert. Programme verwenden weiter den ersten Namen.",
    field_labels_invalid: "Jeder Auswahlwert braucht einen Namen mit 1 bis 100 Zeichen, den kein anderer hat oder hatte. Groß- und \
     Kleinbuchstaben gelten als gleich.",
    field_choices_hint: "Nur beim Typ „Auswahl aus einer Liste“: ein Wert pro Zeile, höchstens 100 Werte mit je höchstens 64 Zeichen.",
    field_choices_invalid: "Geben Sie 1 bis 100 verschiedene Auswahlwerte ein, einen pro Zeile, jeweils höchstens 64 Zeichen. Groß- und Kleinbuchstaben gelten als gleich.",
    field_position: "Position",
    field_position_hint: "Von 0 bis 10.000. Felder mit niedrigerer Position stehen weiter vorn. Ohne Angabe steht das Feld am Ende.",
    field_position_invalid: "Geben Sie eine Position von 0 bis 10.000 ein.",
    field_public: "Auf der Website zeigen",
    field_public_hint: "Alle können die Werte sehen.",
    field_unique: "Eindeutig",
    field_unique_hint: "Keine zwei Tiere haben denselben Wert, wie bei einer Chipnummer. Nur für Text und ganze Zahlen.",
    add_field: "Feld hinzufügen",
    delete_field: "Feld löschen",
    field_deleted_effect: "Es verschwindet aus allen Formularen und Seiten. Das geht nur, solange kein Tier einen Wert hat.",
    birth_invalid: "Geben Sie ein Datum mit Tag, Monat und Jahr ein, z.\u{a0}B. 03.05.2024, das nicht in der Zukunft liegt.",
    no_field: "Dieses Feld gibt es nicht.",
    field_in_use: "Tiere haben Werte in diesem Feld. Solange ein Tier einen Wert hat (auch nach seinem Abgang), lässt sich \
     das Feld nicht löschen, und sein Typ und „Eindeutig“ lassen sich nicht ändern.",
    too_many_fields: "Es gibt schon 50 Felder. Löschen Sie eines, bevor Sie ein weiteres hinzufügen.",
    field_changed: "Jemand anders hat dieses Feld gleichzeitig geändert. Prüfen Sie, wie es jetzt aussieht, und speichern Sie noch einmal.",
    delete_choice: |choice| format!("Auswahlwert „{choice}“ entfernen?"),
    show_field: |label| format!("„{label}“ auf der Website zeigen?"),
    change_field: |label| format!("Feld „{label}“ ändern?"),
    choice_in_use: |count, most, choice| {
        let used = match count {
            _ if count > most => format!("mehr als {} Tieren", in_digits(most)),
            1 => "1 Tier".to_owned(),
            count => format!("{} Tieren", in_digits(count)),
        };
        format!(
            "„{choice}“ ist bei {used} eingetragen. Dort bleibt der Wert, aber für andere ist er nicht mehr wählbar. Zum Umbenennen ändern Sie stattdessen den Text des Auswahlwerts."
        )
    },
    becomes_public: |count, has_more| {
        let filled_in = match count {
            _ if has_more => "Bei vielen Tieren ist etwas eingetragen".to_owned(),
            1 => "Bei 1 Tier ist etwas eingetragen".to_owned(),
            count => format!("Bei {} Tieren ist etwas eingetragen", in_digits(count)),
        };
        format!("{filled_in}. Danach kann es jeder sehen.")
    },
    kind: |kind| match kind {
        FieldKind::Text => ("Text", "Geben Sie höchstens 255 Zeichen ein."),
        FieldKind::LongText => ("Langer Text", "Geben Sie höchstens 8.000 Zeichen ein."),
        FieldKind::Integer => ("Ganze Zahl", "Geben Sie eine ganze Zahl ein, z.\u{a0}B. 4."),
        FieldKind::Decimal => (
            "Zahl mit Nachkommastellen",
            "Geben Sie eine Zahl wie 249,00 ein, mit höchstens 12 Stellen vor und 4 nach dem Komma.",
        ),
        FieldKind::Date => (
            "Datum",
            "Geben Sie ein Datum mit Tag, Monat und Jahr ein, z.\u{a0}B. 03.05.2024.",
        ),
        FieldKind::Boolean => ("Ja oder nein", "Geben Sie ja oder nein ein."),
        FieldKind::Choice => (
            "Auswahl aus einer Liste",
            "Wählen Sie einen Wert aus der Liste.",
        ),
    },
    animal_with_number: |name, number| format!("{name} (Nummer {number})"),
    value_taken: |label, other| {
        format!("{label}: schon bei {other} eingetragen. Jedes Tier braucht einen eigenen Wert.")
    },
    other_new: "einem anderen dieser Tiere",
    show_animal: |other| format!("{other} anzeigen"),
    shared_value: |label| {
        format!(
            "{label}: Diese Tiere haben denselben Wert, der aber eindeutig sein muss. Ändern Sie ihn bei allen bis auf eines:"
        )
    },
    field_removed: |label, typed| {
        format!(
            "{label} wurde entfernt. Ihre Eingabe: {typed}. Sie wird nicht gespeichert, wenn Sie das Formular noch einmal senden."
        )
    },
    choice_removed: |label, chosen| {
        format!(
            "{label}: {chosen} steht nicht mehr zur Auswahl. Wählen Sie einen anderen Wert oder keinen."
        )
    },
    number_shortened: |typed| {
        format!(
            "Excel hat die Zahl zu {typed} verkürzt, die letzten Ziffern fehlen. Markieren Sie in Excel die Spalte, wählen Sie „Zellen formatieren“, „Zahl“ mit 0 Dezimalstellen, und kopieren Sie sie noch einmal."
        )
    },
    spreadsheet_error: |cell| {
        format!(
            "{cell} ist kein Wert. Steht dort ####, machen Sie die Spalte in der Tabelle breiter, sonst korrigieren Sie die Formel oder leeren Sie die Zelle. Kopieren Sie die Zeilen dann noch einmal."
        )
    },

    // The list of animals, and its bar.
    on_website: "Auf der Website",
    not_on_website: "Nicht auf der Website",
    listing_invalid: "Geben Sie ja oder nein ein.",
    website_hint: "Wählen Sie „Nicht auf der Website“ zum Beispiel in der Quarantäne oder während der Fundfrist. So lange sieht nur das Team das Tier.",
    website_more: "Website\u{a0}…",
    put_on_website: "Auf die Website stellen",
    take_off_website: "Von der Website nehmen",
    any_status: "Im Bestand",
    also_sold: "Im Bestand oder verkauft",
    filter: "Filtern",
    filters: "Filter",
    add_sold: "Auch verkaufte Tiere",
    take_off: " (entfernen)",
    show: "Anzeigen",
    any_category: "Alle",
    none_here: "Zurzeit ist keines hier",
    nothing_found: "Kein Tier gefunden",
    nothing_found_hint: "Prüfen Sie die Schreibweise oder geben Sie nur den Anfang des Namens ein.",
    none_match: "Kein Tier passt zu diesen Filtern.",
    search_orders: |typed| format!("Vorgänge nach „{typed}“ durchsuchen"),
    select_all: "Alle auf dieser Seite auswählen",
    skip_list: "Zu den Aktionen springen",
    with_selected: "Ausgewählte Tiere ändern",
    all_or_none: "Es werden entweder alle geändert oder keines.",
    reserve_or_sell: "Reservieren oder verkaufen\u{a0}…",
    move_more: "Kategorie ändern\u{a0}…",
    move_label: "In Kategorie verschieben",
    value_more: "Wert ändern\u{a0}…",
    new_value: "Neuer Wert",
    value_hint: "Je nach Feld ein Wert aus der Liste, Ja oder Nein, ein Datum, eine Zahl oder ein Text. Ohne neuen Wert wird der bisherige gelöscht.",
    field_of_animals: "Feld",
    choose_field: "Feld wählen",
    field_missing: "Wählen Sie das Feld, dessen Wert sich ändern soll.",
    cancel_reservations: "Reservierungen stornieren",
    clear: "Alle entfernen",
    chip: |label, value| format!("{label}: {value}"),
    too_many_filters: |most, left_out| {
        format!(
            "Sie können nach höchstens {most} Feldern gleichzeitig filtern, deshalb entfällt: {left_out}. Entfernen Sie zuerst einen anderen Filter."
        )
    },

    // The texts of the pages for managers.

    // Activity.
    export: "Als CSV exportieren",
    no_activity: "In diesem Zeitraum ist nichts passiert",
    no_activity_hint: "Wählen Sie andere Tage oder entfernen Sie einen Filter.",
    no_activity_yet: "Noch nichts gefunden",
    no_activity_yet_hint: "Die neuesten Einträge passen nicht. Auf der nächsten Seite geht es mit älteren weiter.",
    since: "Von",
    up_to: "Bis einschließlich",
    animal_number: "Nummer des Tieres",
    any_type: "Alles",
    when: "Wann",
    who: "Wer",
    what: "Was",
    about: "Betrifft",
    difference: "Einzelheiten",
    export_cut: "Es folgen weitere Einträge. Exportieren Sie weniger Tage auf einmal.",
    list_export_cut: "Es folgen weitere Zeilen. Filtern Sie die Liste und exportieren Sie sie in Teilen.",
    audited_change,
    act: |kind| match kind {
        ActType::KeyCreated => "API-Schlüssel erstellt",
        ActType::KeyRotated => "API-Schlüssel erneuert",
        ActType::KeyRevoked => "API-Schlüssel widerrufen",
        ActType::WebhookAdded => "Webhook hinzugefügt",
        ActType::WebhookChanged => "Webhook geändert",
        ActType::WebhookDeleted => "Webhook gelöscht",
        ActType::WebhookSecretRotated => "Geheimschlüssel eines Webhooks erneuert",
        ActType::WebhookEnabled => "Webhook aktiviert",
        ActType::WebhookDisabled => "Webhook deaktiviert",
        ActType::FieldAdded => "Feld hinzugefügt",
        ActType::FieldChanged => "Feld geändert",
        ActType::FieldDeleted => "Feld gelöscht",
        ActType::ProfileChanged => "Angaben zum Betrieb geändert",
        ActType::StaffAdded => "Teammitglied hinzugefügt",
        ActType::StaffRoleChanged => "Rolle eines Teammitglieds geändert",
        ActType::StaffReset => "Zugang eines Teammitglieds zurückgesetzt",
        ActType::StaffDisabled => "Teammitglied gesperrt",
        ActType::StaffPasswordSet => "Passwort festgelegt",
        ActType::StaffLinked => "Mit dem Anbieter der Anmeldung verknüpft",
        ActType::StaffSecondFactorSet => "Zweiter Faktor eingerichtet",
        ActType::StaffSecondFactorRemoved => "Zweiter Faktor entfernt",
        ActType::StaffPasskeyAdded => "Passkey hinzugefügt",
        ActType::StaffPasskeyRemoved => "Passkey entfernt",
        ActType::StaffSignedIn => "Angemeldet",
        ActType::StaffSignInFailed => "Anmeldung fehlgeschlagen",
        ActType::StaffSessionsEnded => "Sitzungen beendet",
        ActType::DatabaseCopied => "Datenbank kopiert",
        ActType::DatabaseRestored => "Datenbank wiederhergestellt",
        ActType::DatabaseTimeConfirmed => "Uhr der Datenbank bestätigt",
    },
    subject: |kind| match kind {
        SubjectKind::Pet => "Tier",
        SubjectKind::Pets => "Tiere",
        SubjectKind::Order => "Vorgang",
        SubjectKind::Category => "Kategorie",
        SubjectKind::Note => "Notiz",
        SubjectKind::Key => "API-Schlüssel",
        SubjectKind::Staff => "Teammitglied",
        SubjectKind::Webhook => "Webhook",
        SubjectKind::Field => "Feld",
        SubjectKind::Profile => "Betrieb",
        SubjectKind::Database => "Datenbank",
    },

    // Webhooks.
    webhooks_hint: "Ein Webhook informiert ein anderes Programm, z.\u{a0}B. Ihre Buchhaltung oder eine eigene Homepage, über jede Änderung.",
    no_webhooks: "Noch keine Webhooks",
    no_webhooks_hint: "Fügen Sie einen Webhook hinzu. Die Adresse dafür nennt Ihnen das andere Programm.",
    no_webhook: "Es gibt keinen Webhook mit dieser Nummer.",
    add_webhook: "Webhook hinzufügen",
    address: "Adresse",
    address_hint: "Sie beginnt mit https://.",
    description: "Beschreibung",
    sends: "Was gesendet wird",
    sends_hint: "Wenn Sie nichts auswählen, wird jede Änderung gesendet.",
    every_change: "Jede Änderung",
    works: "Funktioniert",
    not_used: "Noch nicht benutzt",
    url_missing: "Geben Sie die Adresse ein.",
    url_invalid: "Geben Sie eine Adresse wie https://shop.example/hooks ein, ohne Leerzeichen, Benutzernamen, Passwort oder einen Teil hinter #. Für http:// oder eine Adresse im eigenen Netz fragen Sie den Betreiber des Dienstes.",
    fails: "Gestört",
    off: "Aus",
    fails_since: "Gestört seit",
    attempts: "Neueste Versuche",
    no_attempts: "Bisher wurde nichts gesendet.",
    result: "Ergebnis",
    duration: "Dauer",
    delivered: "Zugestellt",
    failed: "Fehlgeschlagen",
    test: "Testnachricht senden",
    test_hint: "Das Ergebnis steht kurz darauf in der Liste der Versuche.",
    enable: "Lückenlos fortsetzen",
    enable_hint: "Alles, was seitdem geschehen ist, wird gesendet.",
    enable_now: "Ab jetzt fortsetzen",
    enable_now_hint: "Was inzwischen geschehen ist, wird nie gesendet.",
    disable: "Deaktivieren",
    block_member: "Sperren",
    disable_hint: "Es wird nichts mehr gesendet, bis Sie ihn wieder aktivieren.",
    rotate: "Neuen Geheimschlüssel erstellen",
    rotate_hint: "Der alte gilt noch 24 Stunden.",
    delete: "Löschen",
    delete_webhook: "Diesen Webhook löschen",
    delete_hint: "Damit wird auch die Liste seiner Versuche gelöscht. Das lässt sich nicht rückgängig machen.",
    secret: "Der Geheimschlüssel des Webhooks",
    secret_hint: "Kopieren Sie ihn jetzt in die Einstellungen des Programms. Er wird nicht noch einmal angezeigt.",
    too_many_webhooks: "Es gibt schon 100 Webhooks. Löschen Sie zuerst einen.",
    failing_webhooks: |count| match count {
        1 => "1 Webhook bekommt seine Nachrichten nicht.".to_owned(),
        count => format!("{count} Webhooks bekommen ihre Nachrichten nicht."),
    },
    show_webhooks: "Webhooks anzeigen",
    disabled: |reason| match reason {
        DisabledReason::Failures => "Deaktiviert, weil fünf Tage lang jede Nachricht fehlschlug",
        DisabledReason::Gone => "Deaktiviert, weil der Empfänger keine Nachrichten mehr will",
        DisabledReason::Request => "Von Hand deaktiviert",
    },

    // Orders.
    price: "Preis",
    contact: "Kunde",
    contact_of: |_| TEXTS.contact,
    contact_hint: |kept| {
        format!(
            "Zum Beispiel Name und Telefonnummer. Wird {} nach Abschluss des Vorgangs gelöscht.",
            days(kept)
        )
    },
    no_order_found_hint: |kept| {
        format!(
            "Prüfen Sie die Schreibweise. Nach dem Abschluss eines Vorgangs bleiben die Daten des Kunden {} lang gespeichert.",
            days(kept)
        )
    },
    only_newest: |searched| {
        format!(
            "Durchsucht wurden nur die neuesten {searched} Vorgänge und die ersten Tiere mit diesem Namen."
        )
    },
    orders_found: |count, has_more| {
        let at_least = if has_more { "Mindestens " } else { "" };
        let orders = if count == 1 { "Vorgang" } else { "Vorgänge" };
        format!("{at_least}{count} {orders}")
    },
    sum_of: |status, count, sum| {
        let what = match (status, count) {
            (OrderStatus::Completed, 1) => "Verkauf",
            (OrderStatus::Completed, _) => "Verkäufe",
            (_, 1) => "Reservierung",
            _ => "Reservierungen",
        };
        if count == 1 {
            format!("{count} {what} zum Preis von {sum}")
        } else {
            format!("{count} {what} mit Preis, insgesamt {sum}")
        }
    },
    text_too_long: "Geben Sie höchstens 500 Zeichen ein.",
    contact_changed: "Kunde geändert oder gelöscht",
    change_order: "Vorgang ändern",
    extend_or_change: "Reservierung verlängern oder Vorgang ändern",
    price_invalid: "Geben Sie einen Betrag ein, z.\u{a0}B. 249,00.",
    ambiguous: |typed, [one, other], [first, second]| {
        format!("{typed} kann {one} oder {other} bedeuten. Schreiben Sie {first} oder {second}.")
    },
    reopen,
    typed_here: "Das haben Sie eingegeben, es ist nicht gespeichert:",
    that_was: "Das war",
    did_that: |name| format!("Das war {name},"),
    order_before: "Voriger Vorgang",
    price_of_each: "Preis pro Tier (falls abweichend)",
    order_is,

    // Photos.
    manage_photos: "Fotos verwalten",
    to_animal: "Zurück zum Tier",
    add_photos: "Fotos hinzufügen",
    photos_hint: "JPEG, PNG, WebP oder GIF. Sie können mehrere auswählen oder eines aufnehmen.",
    upload: "Hochladen",
    save_texts_first: "Drücken Sie zuerst „Speichern“: Beim Hochladen werden die Beschreibungen nicht mitgespeichert.",
    make_main: "Als Hauptfoto verwenden",
    move_up: "Nach links",
    move_down: "Nach rechts",
    turn_left: "Nach links drehen",
    turn_right: "Nach rechts drehen",
    look_more: "Bildausschnitt",
    look_hint: "Listen zeigen nur einen Ausschnitt des Fotos. Klicken Sie auf die Stelle, die zu sehen sein soll, oder wählen Sie sie unten.",
    points: [
        "Nichts gewählt",
        "Oben links",
        "Oben",
        "Oben rechts",
        "Links",
        "Mitte",
        "Rechts",
        "Unten links",
        "Unten",
        "Unten rechts",
    ],
    look_at_pressed: "Die angeklickte Stelle",
    uploads: [
        "Wartet",
        "Wird hochgeladen",
        "Wartet auf die Verbindung",
        "Hinzugefügt",
        "Nicht hinzugefügt.",
        "Erneut versuchen",
        "Überspringen",
        "Dieses Foto ist zu groß. Wählen Sie ein kleineres oder wenden Sie sich an den Betreiber des Dienstes.",
        "Der Dienst ist nicht erreichbar.",
        "Sie sind abgemeldet. Melden Sie sich in einem anderen Tab an und drücken Sie noch einmal auf die Schaltfläche.",
        "Es ist dasselbe Bild wie {}.",
        "Ein Tier kann höchstens 20 Fotos haben. Nicht hochgeladen ({}): {}",
        "1 Foto hinzugefügt.",
        "{} Fotos hinzugefügt.",
        "{} nicht hinzugefügt.",
        "Zuerst werden die Fotos hochgeladen.",
    ],
    photos: "Fotos",
    photos_after: "Fügen Sie zuerst das Tier hinzu und dann auf seiner Seite unter „Fotos verwalten“ die Fotos.",
    take_photo: "Behalten",
    no_picture: "Diese Datei ist kein Bild im Format JPEG, PNG, WebP oder GIF. Wählen Sie eine andere.",
    picture_too_large: "Dieses Bild ist zu groß. Wählen Sie ein kleineres.",
    too_many_pictures: "Zurzeit warten zu viele Bilder. Versuchen Sie es noch einmal.",
    photos_not_added: "Die Sitzung ist abgelaufen. Die Fotos wurden nicht hinzugefügt: Melden Sie sich an und wählen Sie sie noch einmal aus.",
    heic: "Das ist ein HEIC-Bild. Stellen Sie die Kamera auf „Maximale Kompatibilität“ (beim iPhone: \
     Einstellungen, Kamera, Formate) und nehmen Sie es noch einmal auf, oder wählen Sie ein JPEG.",
    another_member: "Inzwischen ist jemand anders angemeldet. Melden Sie sich in einem anderen Tab unter Ihrem Namen an \
     und drücken Sie noch einmal auf die Schaltfläche. Ohne JavaScript wählen Sie die Fotos noch einmal aus.",
    too_many_photos: "20 von 20 Fotos. Löschen Sie eines, um ein weiteres hinzuzufügen.",
    photo_is_gone: "Das Foto wird entfernt. Sie können das einen Tag lang rückgängig machen.",
    photo_not_kept: "Dieses Foto lässt sich nicht zurückholen: Es wurde vor zu langer Zeit gelöscht. Fügen Sie es neu hinzu.",
    put_back: "Zurückholen",
    photo_added: "Foto hinzugefügt",
    photo_turned: "Foto gedreht",
    photo_deleted: "Foto gelöscht",
    photos_moved: "Fotos umsortiert",
    photo_focused: "Bildausschnitt eines Fotos gewählt",
    photo_described: "Foto beschrieben",
    photo_file_missing: "Die Datei dieses Fotos fehlt, deshalb lässt es sich nicht drehen. Wenden Sie sich an den Betreiber des Dienstes.",
    photo_of: |number, animal, alt| alt.map_or_else(|| this_photo(number, animal), str::to_owned),
    this_photo,
    photos_of: |animal| format!("Fotos von {animal}"),
    look_at: |number| format!("Bildausschnitt von Foto {number}"),
    alt_of: |number| {
        format!("Beschreibung von Foto {number} (für Menschen, die es nicht sehen können)")
    },
    photo_button: |label, number| format!("{label}: Foto {number}"),
    photos_lost: |count| {
        let (photos, them) = if count == 1 {
            ("1 Foto wurde nicht hinzugefügt: Es hat".to_owned(), "es")
        } else {
            (
                format!("{count} Fotos wurden nicht hinzugefügt: Sie haben"),
                "sie",
            )
        };
        format!(
            "{photos} zu lange gewartet, oder es war kein Platz mehr. Wählen Sie {them} bei Bedarf noch einmal aus und senden Sie das Formular erneut."
        )
    },
    photos_added: |count| {
        if count == 1 {
            "1 Foto hinzugefügt.".to_owned()
        } else {
            format!("{count} Fotos hinzugefügt.")
        }
    },

    // What the pages ask before they do something, and what they say first afterwards.

    // Categories.
    more_categories: "Weitere finden Sie unter „Kategorien“.",
    name_it: "Namen vergeben",
    rename_category: |old, new| format!("Kategorie „{old}“ in „{new}“ umbenennen?"),
    name_category: |id, label| format!("Kategorie {id} den Namen „{label}“ geben?"),
    category_has: |count| {
        let is = if count == 1 { "ist" } else { "sind" };
        format!(
            "{} {is} in dieser Kategorie. Dort steht dann dieser Name.",
            animals(count)
        )
    },
    label_taken: |label, id| {
        format!(
            "Kategorie {id} heißt schon „{label}“. Beide würden in allen Listen gleich aussehen."
        )
    },
    cancels: |order| {
        format!("Das Tier ist reserviert. Seine Reservierung (Vorgang {order}) wird storniert.")
    },

    // Several animals at once.
    change_verb: "Ändern",
    move_animals: |count, category| {
        format!(
            "{} in die Kategorie „{category}“ verschieben?",
            animals(count)
        )
    },
    change_animals: |count, label, value| {
        let dative = if count == 1 { "" } else { "n" };
        format!(
            "Bei {}{dative} „{label}“ auf „{value}“ setzen?",
            animals(count)
        )
    },
    clear_animals: |count, label| {
        let dative = if count == 1 { "" } else { "n" };
        format!("Bei {}{dative} „{label}“ entfernen?", animals(count))
    },
    reserve_animals: |count, end| {
        format!("{} bis einschließlich {end} reservieren?", animals(count))
    },
    sell_animals: |count| format!("{} verkaufen?", animals(count)),
    cancel_reservations_of: |count| {
        if count == 1 {
            "Reservierung für 1 Tier stornieren?".to_owned()
        } else {
            format!("Reservierungen für {} stornieren?", animals(count))
        }
    },
    withdraw_animals: |count, why| {
        format!("Abgang für {} eintragen ({})?", animals(count), reason(why))
    },
    list_animals: |count| format!("{} auf die Website stellen?", animals(count)),
    unlist_animals: |count| format!("{} von der Website nehmen?", animals(count)),

    // Pasted lines.
    no_heading: "Die Zeile hat mehr Zellen, als es Spalten gibt.",
    several_lines: "Die Zelle hat mehrere Zeilen. Fehlt ein schließendes Anführungszeichen?",
    quote_not_closed: "Ein Anführungszeichen ist nicht geschlossen oder steht in einer Zelle, die nicht in Anführungszeichen steht. Schreiben Sie eine solche Zelle als \"Genannt \"\"Max\"\"\", oder entfernen Sie das Zeichen.",
    columns: "Spalten",
    leave_out: "Nicht übernehmen",
    first_line: "Die erste Zeile",
    first_line_is: ["enthält ein Tier", "enthält Überschriften"],
    first_line_has_headings: "Die erste Zeile enthält Überschriften",
    first_line_counts: "Zurzeit zählt die erste Zeile als Tier.",
    unknown_columns: "Was steht in diesen Spalten?",
    see_above: "Siehe oben",
    lines_with: |numbers| format!("Zeilen {numbers}"),
    separator: "Zwischen den Zellen steht",
    separators: ["ein Komma", "ein Semikolon", "ein Tabulator"],
    titles_left_out: |titles| {
        format!("Nicht übernommen, weil es über den Überschriften steht: {titles}")
    },
    column_ambiguous: |heading, one, other| {
        format!("„{heading}“ kann {one} oder {other} sein. Wählen Sie aus.")
    },
    column: |heading| format!("„{heading}“ enthält"),
    chosen_twice: |label| {
        format!("Zwei Spalten sind „{label}“. Wählen Sie für eine davon etwas anderes.")
    },
    column_missing: |label| format!("Wählen Sie die Spalte für „{label}“."),
    left_out: |headings| format!("{headings} nicht übernehmen"),
    left_out_hint: "Diese Spalten werden nicht übernommen. Wählen Sie oben aus, was sie enthalten, oder bestätigen Sie, dass sie wegfallen:",
    column_number: |number| format!("Spalte {number}"),
    leave_out_first: "Setzen Sie das Häkchen, um die anderen Spalten wegzulassen, oder wählen Sie, was sie enthalten.",
    first_lines: |taken, rest| {
        let others = if rest == 1 {
            "Das letzte bleibt hier und folgt".to_owned()
        } else {
            format!("Die übrigen {rest} bleiben hier und folgen")
        };
        format!(
            "Es werden höchstens {taken} Tiere auf einmal hinzugefügt. {others} in der nächsten Vorschau."
        )
    },
    lines_added: |added| format!("{} hinzugefügt. Hier sind die nächsten.", animals(added)),
    on_line: |number, why| format!("Zeile {number}: {why}"),
    no_category: |number| {
        format!(
            "Es gibt keine Kategorie {number}. Benennen Sie sie zuerst auf der Seite „Kategorien“ oder korrigieren Sie die Nummer."
        )
    },
    no_choice: |typed, choices| format!("„{typed}“ steht nicht zur Auswahl: {choices}."),

    // Settings.
    make_link: "Neuen Link erstellen",
    revoke_effect: "Danach wird jedes Programm mit diesem Schlüssel abgewiesen. Ein widerrufener Schlüssel bleibt ungültig.",
    really: |verb, what| match verb {
        _ if verb == TEXTS.make_link => format!("Neuen Link {what} erstellen?"),
        _ if verb == TEXTS.change_role => {
            let name = what.strip_prefix("für ").unwrap_or(what);
            format!("Rolle von {name} ändern?")
        }
        _ if verb == TEXTS.delete_field => format!("Feld „{what}“ löschen?"),
        _ if verb == TEXTS.revoke_key => format!("API-Schlüssel „{what}“ widerrufen?"),
        // A verb of one word.
        _ => format!("{what} {}?", verb.to_lowercase()),
    },
    disable_member: |name| {
        format!("Alle Sitzungen von {name} enden sofort, und {name} kann sich nicht mehr anmelden.")
    },
    change_role: "Rolle ändern",
    role_becomes: |name, old, new| {
        format!(
            "{name}: bisher {}, künftig {}. {}.",
            role(old),
            role(new),
            what_role_may(new)
        )
    },
    reset_member: |name| {
        format!(
            "Alle Sitzungen von {name} enden sofort. Das Passwort, der zweite Faktor und die Passkeys von {name} werden ungültig. Mit dem Link legt {name} ein neues Passwort fest."
        )
    },

    // Forms that several people fill in.
    now_changed: |label, now, was| {
        let was = was.map(|was| if was.is_empty() { "leer" } else { was });
        let it_was = was.map(|was| format!(", vorher {was}")).unwrap_or_default();
        format!(
            "{label}: jetzt {now}{it_was}. Noch ist nichts geändert. Prüfen Sie Ihre Eingabe und drücken Sie noch einmal auf die Schaltfläche."
        )
    },

    // Forms that outlived their session.
    form_of_another: "Jemand anders hat dieses Formular ausgefüllt",
    somebody: "Jemand anders",
    form_of: |owner, you| {
        format!(
            "{owner} hat dieses Formular ausgefüllt, und Sie sind als {you} angemeldet. Noch ist nichts geändert."
        )
    },
    send_as: |you| format!("Als {you} senden"),

    // After something was done.
    undo: "Rückgängig machen",
    not_undoable: "Diese Änderung lässt sich nicht rückgängig machen.",
    show_order: "Vorgang anzeigen",
    add_another: "Noch ein ähnliches Tier hinzufügen",
    reserved_as: |order| format!("Reserviert (Vorgang {order})."),
    sold_as: |order| format!("Verkauft (Vorgang {order})."),
    added_as: |animal| format!("Hinzugefügt mit der Nummer {animal}."),
    added_about: |animal| {
        format!(
            "Hinzugefügt mit der Nummer {animal}. Das Geburtsdatum ist aus dem Alter zurückgerechnet."
        )
    },
    added_many: |count| format!("{} hinzugefügt.", animals(count)),
    undone_many: |count| {
        let dative = if count == 1 { "" } else { "n" };
        format!(
            "Die Änderung an {}{dative} ist rückgängig gemacht.",
            animals(count)
        )
    },
    changed_many: |count| format!("{} geändert.", animals(count)),
    reservation_cancelled: "Die Reservierung ist storniert. Das Tier ist verfügbar.",
    sale_undone: "Der Verkauf ist rückgängig gemacht.",
    taken_back: "Zurückgegeben. Das Tier ist verfügbar.",
    photo_was_removed: "Foto entfernt.",
    photo_was_turned: "Foto gedreht.",
    photo_is_back: "Das Foto ist wieder da.",
    reservation_extended: "Das Ende der Reservierung ist geändert.",
    undone: "Die Änderung ist rückgängig gemacht.",
    saved: "Gespeichert.",
    was_withdrawn: "Abgang eingetragen.",
    was_restored: "Der Abgang ist rückgängig gemacht.",
    was_deleted: "Gelöscht.",
    webhook_disabled: "Dorthin wird nichts mehr gesendet.",
    webhook_enabled: "Der Webhook ist aktiviert.",
    webhook_tested: "Eine Testnachricht ist unterwegs. Laden Sie die Seite gleich neu, um das Ergebnis zu sehen.",
    password_changed: "Ihr Passwort ist geändert. Ihre anderen Sitzungen sind beendet.",
    session_ended: "Die Sitzung ist beendet.",
    second_factor_removed: "Ihr zweiter Faktor ist entfernt. Ihre anderen Sitzungen sind beendet.",
    role_changed: "Die Rolle ist geändert.",
    member_disabled: "Dieses Teammitglied kann sich nicht mehr anmelden. Seine Sitzungen sind beendet.",
    key_revoked: "Der Schlüssel ist widerrufen.",

    // Pages for signing in and for managing accounts, staff and API keys; rejected requests; and open pages.

    // Signing in.
    sign_in: "Anmelden",
    password: "Passwort",
    code: "Code",
    continue_label: "Weiter",
    sign_in_wrong: "Der Name oder das Passwort ist falsch. Prüfen Sie beides und versuchen Sie es noch einmal.",
    code_hint: "Die sechs Ziffern, die Ihre App anzeigt, oder einer Ihrer Wiederherstellungscodes.",
    code_wrong: "Dieser Code ist falsch oder wurde schon benutzt. Warten Sie, bis die App den nächsten Code anzeigt.",
    sign_in_ended: "Melden Sie sich noch einmal an. Diese Anmeldung hat zu lange gedauert, oder der Code wurde zweimal gesendet.",
    form_saved: "Geben Sie Ihr Passwort ein, um fortzufahren. Ihre Eingaben bleiben erhalten, und Sie können sie danach senden.",
    form_too_long: "Ihre Sitzung ist abgelaufen, und Ihr Text ist zu lang, um hier erhalten zu bleiben. Melden Sie sich in einem anderen Tab an, gehen Sie in diesem zurück und senden Sie ihn noch einmal.",
    form_not_of_browser: "Dieses Formular wurde in einem anderen Browser aufbewahrt, oder die Cookies dieses Browsers wurden seitdem gelöscht. Deshalb wurde es nicht gesendet. Gehen Sie zurück zur Seite des Formulars und senden Sie es noch einmal.",
    no_password: "Noch kein Passwort oder vergessen? Die Leitung kann Ihnen einen Link geben.",
    submit_saved_form_hint: "Sie sind angemeldet. Senden Sie jetzt Ihre Eingaben.",
    submit_saved_form: "Eingaben senden",
    discard_saved_form: "Nicht senden",
    changed_meanwhile: "Jemand anders hat inzwischen etwas geändert, deshalb wurde Ihre Änderung nicht ausgeführt. Laden Sie die Seite neu und sehen Sie sich den aktuellen Stand an.",

    // Signing in at a provider, whose host names it.
    provider: "Anbieter",
    link_needed: "Dafür liegt Ihre Anmeldung zu lange zurück. Sie haben sich mit einem Link angemeldet: Bitten Sie die Leitung um einen neuen, oder melden Sie sich ab und wieder an.",
    no_passwords: "Hier gibt es keine Passwörter. Melden Sie sich über die Schaltfläche an.",
    sign_in_elsewhere: "Diese Anmeldung hat länger als zehn Minuten gedauert, war schon abgeschlossen oder hat in einem anderen Browser begonnen. Melden Sie sich noch einmal an.",
    access_disabled: "Die Leitung hat Ihren Zugang gesperrt.",
    signed_in: "Sie sind angemeldet",
    signed_in_hint: "Schließen Sie diesen Tab und machen Sie in dem weiter, aus dem Sie gekommen sind.",
    signed_out_title: "Sie sind abgemeldet",
    role_of_provider: "Die Rolle bestimmt der Anbieter, über den sich dieses Teammitglied anmeldet. Ändern Sie sie dort.",
    enter_once: "Mit diesem Link einmal anmelden",
    sign_in_at: |host| format!("Mit {host} anmelden"),
    sign_in_in_new_tab: |host| {
        format!(
            "Melden Sie sich in einem neuen Tab mit {host} an und kommen Sie in diesen zurück. Ihre Eingaben bleiben hier; senden Sie sie dann."
        )
    },
    provider_unreachable: |host| {
        format!("{host} antwortet nicht. Warten Sie eine Minute und versuchen Sie es noch einmal.")
    },
    provider_invalid: |host| {
        format!(
            "Die Antwort von {host} konnte nicht angenommen werden. Versuchen Sie es noch einmal. Wenn das wieder geschieht, fragen Sie den Betreiber des Dienstes: Der Grund steht im Protokoll des Dienstes."
        )
    },
    sign_in_stopped: |host| {
        format!("{host} hat die Anmeldung abgebrochen. Melden Sie sich noch einmal an.")
    },
    no_role: |host| {
        format!(
            "{host} kennt Sie, gibt Ihnen hier aber keine Rolle. Fragen Sie die Leitung oder die Stelle, die Ihre Konten verwaltet."
        )
    },
    identity_of_another: |host| {
        format!(
            "Dieser Link gehört einem Teammitglied und Ihr Konto bei {host} einem anderen. Melden Sie sich bei {host} ab und benutzen Sie das Konto, das zum Link gehört."
        )
    },
    sign_out_at: |host| format!("Bei {host} abmelden"),
    signed_out_hint: |host| format!("Sie sind hier abgemeldet und jetzt auch bei {host}."),
    signs_in_at: |host| format!("meldet sich mit {host} an"),
    link_to_provider: |host| {
        format!(
            "Oder melden Sie sich von jetzt an mit {host} an. Dann brauchen Sie hier kein Passwort."
        )
    },
    enter_once_hint: |host| {
        format!(
            "Wenn Sie sich nicht mit {host} anmelden können, kommen Sie mit diesem Link einmal hinein."
        )
    },

    // Passwords and links.
    choose_password: "Passwort festlegen",
    new_password: "Neues Passwort",
    new_password_again: "Neues Passwort wiederholen",
    new_password_hint: "Mindestens 12 Zeichen, z.\u{a0}B. vier zufällige Wörter. Sie können das Passwort auch hineinkopieren.",
    passwords_different: "Die beiden Passwörter sind verschieden. Geben Sie zweimal dasselbe ein.",
    save_password: "Speichern und anmelden",
    link_invalid: "Dieser Link ist ungültig",
    link_invalid_hint: "Er wurde schon benutzt, ist älter als 24 Stunden oder wurde durch einen neueren ersetzt. Wenn Sie schon ein Passwort festgelegt haben, melden Sie sich damit an. Sonst bitten Sie die Leitung um einen neuen Link.",

    // Account.
    account: "Ihr Konto",
    current_password: "Aktuelles Passwort",
    change_password: "Passwort ändern",
    current_password_wrong: "Das aktuelle Passwort ist falsch. Geben Sie das Passwort ein, mit dem Sie sich zurzeit anmelden.",
    sessions: "Sitzungen",
    only_last_sessions: "Angezeigt werden die 100 zuletzt benutzten Sitzungen.",
    language_label: "Sprache",
    language_of_store: |name| format!("Sprache des Betriebs ({name})"),
    own_sessions: "Wo Sie angemeldet sind",
    browser_label: "Browser",
    ip_address: "IP-Adresse",
    last_used: "Zuletzt benutzt",
    this_session: " (diese Sitzung)",
    browser_on: |browser, system| format!("{browser} auf {system}"),
    end_session: "Beenden",

    // The second factor.
    second_factor: "Zweiter Faktor",
    second_factor_off: "Schützen Sie Ihr Konto mit einer App auf Ihrem Telefon, die einen Code anzeigt.",
    second_factor_required: "Ihre Rolle erfordert einen zweiten Faktor. Richten Sie ihn ein, um fortzufahren.",
    second_factor_stays: "Ihre Rolle erfordert einen zweiten Faktor, deshalb können Sie ihn nicht entfernen. Sie können eine andere App einrichten.",
    second_factor_set: "Ihr zweiter Faktor ist eingerichtet. Ihre anderen Sitzungen sind beendet.",
    set_up: "Zweiten Faktor einrichten",
    change_second_factor: "Zweiten Faktor ändern",
    remove_second_factor: "Zweiten Faktor entfernen",
    without_second_factor: "Ohne zweiten Faktor",
    set_up_app: "App einrichten",
    open_app: "Öffnen Sie eine Authenticator-App auf Ihrem Telefon.",
    scan: "Scannen Sie dieses Bild oder geben Sie den Einrichtungsschlüssel von Hand ein.",
    qr_code: "QR-Code mit dem Einrichtungsschlüssel",
    app_code: "Code, den die App anzeigt",
    use_app: "Diese App verwenden",
    app_code_wrong: "Der Code stimmt nicht. Prüfen Sie die Uhr des Telefons und geben Sie den Code ein, den die App jetzt anzeigt.",
    recovery_codes: "Wiederherstellungscodes",
    new_codes_hint: "Erstellen Sie neue Wiederherstellungscodes, wenn Sie welche benutzt oder verloren haben. Die alten werden ungültig.",
    new_codes: "Neue Codes erstellen",
    codes_replaced: "Diese Codes ersetzen die alten. Ihre anderen Sitzungen sind beendet.",
    codes_hint: "Bewahren Sie diese Wiederherstellungscodes dort auf, wo Sie sie ohne Ihr Telefon finden, z.\u{a0}B. auf Papier. Mit jedem können Sie sich einmal anmelden. Sie werden nicht noch einmal angezeigt.",
    codes_kept: "Ich habe sie gesichert",

    // Passkeys.
    passkey: "Passkey",
    passkeys: "Passkeys",
    passkeys_short: "Melden Sie sich mit Fingerabdruck, Gesicht oder PIN an, ohne Passwort.",
    change_passkeys: "Passkeys verwalten",
    passkeys_hint: "Ein Passkey liegt auf Ihrem Telefon, Ihrem Computer oder einem Sicherheitsschlüssel und fragt nach Fingerabdruck, Gesicht oder PIN. Mit ihm melden Sie sich ohne Passwort an. Sobald Sie einen haben, genügt das Passwort nicht mehr: Danach wird der Passkey verlangt oder ein Code Ihrer App. Fügen Sie einen zweiten auf einem anderen Gerät hinzu. Wenn Sie alle verlieren, kann Ihnen die Leitung einen neuen Link geben.",
    passkey_name: "Name des Passkeys",
    passkey_name_invalid: "Der Name muss einzeilig sein und 1 bis 60 Zeichen haben.",
    add_passkey: "Passkey hinzufügen",
    passkeys_full: "Sie haben 10 Passkeys, mehr sind nicht möglich. Entfernen Sie einen, bevor Sie einen weiteren hinzufügen.",
    passkeys_elsewhere: "Passkeys sind für diese Adresse nicht eingerichtet. Fragen Sie den Betreiber des Dienstes.",
    sign_in_with_passkey: "Mit Passkey anmelden",
    passkey_needed: "Ihr Passwort stimmt. Verwenden Sie jetzt Ihren Passkey. Wenn Sie ihn verloren haben, bitten Sie die Leitung um einen neuen Link.",
    passkey_script: "Passkeys brauchen JavaScript, das in diesem Browser nicht läuft.",
    passkey_unsupported: "Dieser Browser ist zu alt für Passkeys. Aktualisieren Sie ihn oder nehmen Sie einen anderen.",
    passkey_stopped: "Es wurde kein Passkey verwendet: Die Abfrage des Browsers wurde geschlossen, es hat zu lange gedauert, oder dieses Gerät hat keinen für diese Seite. Versuchen Sie es noch einmal.",
    passkey_known: "Dieses Gerät hat bereits einen Passkey für Ihr Konto.",
    passkey_late: "Das hat länger als fünf Minuten gedauert, wurde schon einmal gesendet oder hat in einem anderen Tab begonnen. Versuchen Sie es noch einmal.",
    passkey_rejected: "Dieser Passkey funktioniert hier nicht. Er wurde entfernt oder gehört zu einer anderen Seite. Melden Sie sich anders an.",
    passkey_of_another: "Das ist der Passkey eines anderen Teammitglieds. Verwenden Sie einen eigenen.",
    passkey_unusable: "Dieser Passkey kann nicht hinzugefügt werden. Er muss nach Fingerabdruck, Gesicht oder PIN fragen und neu sein. Versuchen Sie es mit einem anderen Gerät.",
    passkey_added: "Der Passkey ist hinzugefügt. Ihre anderen Sitzungen sind beendet.",
    passkey_removed: "Der Passkey ist entfernt. Ihre anderen Sitzungen sind beendet.",
    passkey_count: "Zähler des Passkeys",

    // Staff.
    staff: "Team",
    role_label: "Rolle",
    state: "Status",
    you: "das sind Sie",
    add_member: "Teammitglied hinzufügen",
    password_again: "Dafür ist noch einmal Ihr Passwort nötig, weil die letzte Eingabe mehr als fünf Minuten her ist. \
     Ihre Angaben bleiben erhalten, und Sie können sie danach senden.",
    add_member_button: "Hinzufügen und Link erstellen",
    member_name_hint: "Mit diesem Namen meldet sich das Teammitglied an.",
    member_name_invalid: "Der Name muss einzeilig sein und 1 bis 64 Zeichen haben.",
    member_name_taken: "Es gibt schon ein Teammitglied mit diesem Namen. Wählen Sie einen anderen.",
    too_many_members: "Es gibt schon 1.000 Teammitglieder. Mehr sind nicht möglich.",
    own_access: "Ihre Rolle und Ihren Zugang können Sie nicht selbst ändern. Bitten Sie ein anderes Teammitglied mit der Rolle „Leitung“.",
    new_link: "Zugang zurücksetzen",
    disabled_state: "gesperrt",
    active: "aktiv",
    active_with_second_factor: "aktiv, mit zweitem Faktor",
    has_link: "hat einen Link",
    link_expired: "Link abgelaufen",
    link: "Link zum Festlegen des Passworts",
    copy: "Kopieren",
    copied: "Kopiert",
    secret_kept: "Fertig",

    // API keys.
    keys: "API-Schlüssel",
    add_key: "Schlüssel erstellen",
    key_name_hint: "Wer oder was den Schlüssel verwendet, z.\u{a0}B. Buchhaltung.",
    key_name_invalid: "Der Name muss einzeilig sein und 1 bis 255 Zeichen haben.",
    allows: "Erlaubt",
    what_key_allows: "Was er erlaubt",
    never: "nie",
    called_get_pet: "ruft noch getPet auf: ",
    revoked: "widerrufen ",
    expired: "abgelaufen ",
    valid_until: "gültig bis ",
    valid: "gültig",
    rotate_key: "Erneuern",
    revoke_key: "Widerrufen",
    key_not_rotated: "Dieser Schlüssel wurde schon erneuert oder widerrufen oder ist abgelaufen.",
    new_key: "Ein neuer API-Schlüssel",
    new_key_hint: "Kopieren Sie den Schlüssel jetzt in die Einstellungen des Programms. Er wird nicht noch einmal angezeigt.",

    // Requests that are rejected.
    incomplete_form: "Dieses Formular ist nicht vollständig. Laden Sie die Seite neu und senden Sie es noch einmal.",
    body_too_large: "Was Sie gesendet haben, ist zu groß für den Dienst.",
    not_accepted: "Der Dienst hat die Anfrage nicht angenommen.",
    not_allowed: "Diese Seite ist für Ihre Rolle nicht freigegeben.",
    foreign_host: |host, expected| {
        let remedy = match expected {
            "" => "Fragen Sie den Betreiber des Dienstes nach der Adresse.".to_owned(),
            expected => format!(
                "Öffnen Sie ihn unter {expected}. Wenn Sie das getan haben, fragen Sie den Betreiber des Dienstes: Was zu korrigieren ist, steht im Protokoll des Dienstes."
            ),
        };
        format!("Unter {host:.255} ist der interne Bereich nicht zu erreichen. {remedy}")
    },
    needs_https: "Der interne Bereich braucht HTTPS, weil ein Passwort nicht unverschlüsselt gesendet werden darf. Öffnen Sie ihn mit https:// oder auf dem Rechner, auf dem er läuft.",
    foreign_form: "Dieses Formular wurde von einer anderen Website gesendet und deshalb nicht ausgeführt. Öffnen Sie den internen Bereich und senden Sie das Formular dort.",
    foreign_origin: |origin, own| {
        format!(
            "Dieses Formular wurde von {origin:.255} gesendet, die Anfrage ging aber an {own:.255}. Deshalb wurde es nicht ausgeführt. Öffnen Sie den internen Bereich und senden Sie das Formular dort. Wenn {origin:.255} der interne Bereich ist, fragen Sie den Betreiber des Dienstes: Was zu korrigieren ist, steht im Protokoll des Dienstes."
        )
    },
    connection_replaced: "Es sind zu viele Verbindungen offen. Warten Sie einen Moment und laden Sie die Seite neu.",
    to_first_page: "Zur Seite „Heute“",
    request: "Fehlernummer ",

    // Open pages.
    page_changed: "Jemand hat etwas auf dieser Seite geändert. Sie bleibt, wie sie ist, solange Sie daran arbeiten.",
    offline: "Es besteht keine Verbindung, deshalb wurde nichts gesendet. Ihre Eingaben sind noch da: Versuchen Sie es erneut, sobald die Verbindung wieder steht.",
    connection_lost: "Die Verbindung zum Dienst ist unterbrochen. Diese Seite ist vielleicht nicht mehr aktuell.",
    signed_out: "Sie sind abgemeldet, deshalb ist diese Seite vielleicht nicht mehr aktuell. Melden Sie sich in einem anderen Tab an oder laden Sie sie neu.",
    show_change: "1 Änderung anzeigen",
    show_changes: "{} Änderungen anzeigen",
    reload: "Seite neu laden",
    more_follow: "Weitere Einträge folgen auf der nächsten Seite.",
    not_in_text: "Das Steuerzeichen U+0000 ist nicht erlaubt. Tippen Sie den Text neu, statt ihn einzufügen.",
    newest_first: "Neueste zuerst",
    by_name: "Nach Name",
    by_price: |price| format!("Nach {price}"),
    youngest_first: "Jüngste zuerst",
    too_many_to_sort: |most| {
        format!(
            "Nur Listen mit höchstens {most} Tieren lassen sich sortieren. Wählen Sie zuerst einen Filter, zum Beispiel eine Tierart."
        )
    },
    stay: "Aufenthaltsdauer",
    longest_first: "Am längsten bei uns",
    too_many_attempts: |minutes| {
        let minutes = if minutes == 1 {
            "1 Minute".to_owned()
        } else {
            format!("{minutes} Minuten")
        };
        format!(
            "Es gab zu viele Anmeldeversuche. Warten Sie {minutes} oder bitten Sie die Leitung um einen Link."
        )
    },
    weak: |weak| {
        match weak {
        WeakPassword::Short => {
            format!("Das Passwort muss mindestens {} Zeichen haben.", Password::MIN_LENGTH)
        }
        WeakPassword::Long => {
            format!("Das Passwort darf höchstens {} Zeichen haben.", Password::MAX_LENGTH)
        }
        WeakPassword::Common => "Dieses Passwort ist leicht zu erraten: Es ist verbreitet, wiederholt ein Zeichen oder besteht fast nur aus üblichen Wörtern oder einem Namen. Wählen Sie ein anderes, z.\u{a0}B. vier zufällige Wörter."
            .to_owned(),
    }
    },
    welcome: |name| html! { "Willkommen, " bdi { (name) } ". Legen Sie das Passwort fest, mit dem Sie sich künftig anmelden." },
    you_are: |name, of| html! { "Angemeldet als " bdi { (name) } " (" (role(of)) ")" },
    second_factor_on: |recovery_codes| {
        let codes = match recovery_codes {
            0 => "keine Wiederherstellungscodes mehr".to_owned(),
            1 => "noch 1 Wiederherstellungscode".to_owned(),
            count => format!("noch {count} Wiederherstellungscodes"),
        };
        format!("Zum Anmelden brauchen Sie Ihre App. Sie haben {codes}.")
    },
    session_in: |browser| format!(" (Sitzung in {browser})"),
    for_member: |name| format!(" für {name}"),
    role_of: |name| format!("Rolle von {name}"),
    give_link: |name| {
        html! {
            "Geben Sie diesen Link an " bdi { (name) } " weiter und an niemanden sonst. Er gilt 24 Stunden und wird "
            "nicht noch einmal angezeigt."
        }
    },
    role,
    what_role_may,
    scope: |scope| match scope {
        Scope::Read => "Tiere ansehen (nur Name, Kategorie und Status)",
        Scope::Write => "Tiere ansehen und hinzufügen (nur Name, Kategorie und Status)",
        Scope::StoreRead => "Tiere und Vorgänge ansehen (ohne Kundendaten)",
        Scope::StoreWrite => "Tiere und Vorgänge ansehen und ändern (mit Kundendaten)",
        Scope::StoreAdmin => "Alles, auch Felder, Webhooks, Protokoll und die Angaben zum Betrieb",
    },
    problem: |problem| match problem {
        Problem::NotFound | Problem::OperationRemoved => (
            TEXTS.not_found,
            Some("Diese Seite gibt es nicht."),
            "Prüfen Sie die Adresse oder gehen Sie zur Seite „Heute“.",
        ),
        Problem::Internal => (
            "Etwas ist schiefgegangen",
            Some("Das ist ein Fehler im Dienst. Es lag nicht an Ihrer Eingabe."),
            "Versuchen Sie es noch einmal. Wenn es wieder passiert, nennen Sie dem Betreiber des Dienstes die Fehlernummer unten.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "Der Dienst ist ausgelastet",
            Some(
                "Der Dienst konnte die Anfrage nicht abschließen. Vielleicht wurde etwas geändert, vielleicht nicht.",
            ),
            "Warten Sie einen Moment und laden Sie die Seite neu. Dasselbe Formular wird nie zweimal ausgeführt.",
        ),
        Problem::StorageFull => (
            "Der Speicherplatz ist voll",
            Some(
                "Der Dienst kann nichts speichern, weil auf seinem Server kein Platz mehr ist. Es wurde nichts geändert.",
            ),
            "Bitten Sie den Betreiber des Dienstes, Platz zu schaffen. Gehen Sie danach zurück und senden Sie das Formular noch einmal.",
        ),
        Problem::BodyTooLarge => (
            "Zu viel Text",
            None,
            "Gehen Sie zurück und senden Sie ihn in mehreren Teilen.",
        ),
        Problem::InsufficientScope => (
            "Nicht erlaubt",
            None,
            "Gehen Sie zurück oder fragen Sie die Leitung.",
        ),
        _ => (
            "Das hat nicht geklappt",
            None,
            "Gehen Sie zurück und prüfen Sie Ihre Angaben.",
        ),
    },

    // The store.
    logo: "Logo",
    upload_logo: "Bilddatei",
    logo_hint: "PNG, JPEG oder WebP mit höchstens 2 MB. Speichern Sie zuerst das Formular: Beim Hochladen werden Ihre Eingaben dort nicht mitgespeichert.",
    logo_missing: "Wählen Sie zuerst ein Bild aus.",
    logo_invalid: "Das Logo muss ein Bild im Format PNG, JPEG oder WebP sein. Wählen Sie eine andere Datei.",
    logo_too_flat: "Das Logo muss mindestens 16 Pixel breit und hoch sein, höchstens 12-mal so breit wie hoch und höchstens 3-mal so hoch wie breit. Wählen Sie ein anderes Bild.",
    picture_problem: |problem| {
        match problem {
        PictureProblem::NoPicture | PictureProblem::OtherFormat { .. } => TEXTS.no_picture.to_owned(),
        PictureProblem::Truncated { .. } => "Das Bild ist nicht vollständig: Das Ende fehlt. Wählen Sie die ganze Datei.".to_owned(),
        PictureProblem::OtherData { .. } => "Nach dem Bild folgen andere Daten. Speichern Sie es mit einem anderen Programm noch einmal.".to_owned(),
        PictureProblem::Unreadable => "Das Bild ist beschädigt und kann nicht gelesen werden. Speichern Sie es mit einem anderen Programm noch einmal.".to_owned(),
        PictureProblem::Metadata { length, most } => {
            let [length, most] = [length, most].map(in_digits);
            format!("Das Bild hat {length} Byte andere Daten, höchstens {most} sind erlaubt. Entfernen Sie diese, oder speichern Sie das Bild mit einem anderen Programm noch einmal.")
        }
        PictureProblem::ManyPictures { most } => {
            let most = in_digits(most);
            format!("Die Datei enthält mehr als {most} Bilder. Wählen Sie eine Datei mit nur einem davon.")
        }
        PictureProblem::Pixels { width, height, most, most_of_side } => {
            let most = in_digits(most);
            format!("Das Bild hat {width} × {height} Pixel. Erlaubt sind insgesamt höchstens {most} und {most_of_side} je Seite. Wählen Sie ein kleineres.")
        }
        PictureProblem::PixelsOfKind { width, height, most, format } => {
            let most = in_digits(most);
            format!("Das Bild hat {width} × {height} Pixel, ein {format}-Bild dieser Art darf {most} haben. Wählen Sie ein kleineres oder ein JPEG, das nicht progressiv ist.")
        }
        PictureProblem::Memory => "Das Bild braucht zu viel Speicher. Wählen Sie eines mit weniger Pixeln.".to_owned(),
        PictureProblem::Time => "Das Lesen des Bildes dauert zu lange. Wählen Sie ein kleineres.".to_owned(),
        PictureProblem::FlatLogo => TEXTS.logo_too_flat.to_owned(),
    }
    },
    remove_logo: "Logo entfernen",
    logo_removed_effect: "Es verschwindet von allen Seiten. Damit es wieder erscheint, laden Sie es noch einmal hoch.",
    as_shown: "So sieht es auf der Website aus",
    see_website: "Website ansehen",
    operator_value: |value| {
        format!(
            "Solange das Feld leer ist, gilt die Einstellung des Betreibers des Dienstes: {value}."
        )
    },
    no_currency: "Solange das Feld leer ist, stehen Beträge ohne Währung.",
    nameless: |console, website| {
        format!(
            "Solange das Feld leer ist, steht im internen Bereich „{console}“ und auf der Website „{website}“."
        )
    },
    default_is: |value| format!("Solange das Feld leer ist, gilt die Vorgabe: {value}."),
    store: "Betrieb",
    change_store: "Angaben zum Betrieb ändern",
    store_hint: "Diese Angaben erscheinen auf der Website, im internen Bereich oder auf gedruckten Seiten. Sie können jedes Feld leer lassen.",
    who_you_are: "Wer Sie sind",
    how_to_reach_you: "Wie man Sie erreicht",
    pages_heading: "Sprache und Darstellung",
    paper_heading: "Auf Papier",
    links: "Links",
    links_hint: "Am Ende jeder öffentlichen Seite, etwa Impressum, Datenschutz oder AGB.",
    more_links: "Weitere Links",
    not_chosen: "Nicht gewählt",
    store_stale: "Jemand anders hat die Angaben gleichzeitig geändert. Prüfen Sie den aktuellen Stand und speichern Sie noch einmal.",
    link_label_invalid: "Ein Link braucht einen Text von 1 bis 60 Zeichen in einer Zeile. Geben Sie ihn ein oder leeren Sie beide Felder des Links.",
    link_url_invalid: "Die Adresse eines Links muss mit https:// beginnen, ohne Leerzeichen, ohne Benutzernamen vor einem @ und mit höchstens 500 Zeichen. Korrigieren Sie sie oder leeren Sie beide Felder des Links.",
    several_urls: "Das sind mehrere Adressen. Geben Sie hier nur eine ein und die anderen bei den nächsten Links.",
    pick_colour: "Farbe auswählen",
    link_label: |number| format!("Text von Link {number}"),
    link_url: |number| format!("Adresse von Link {number}"),
    member_name: [
        "Name",
        "Er steht oben auf jeder Seite.",
        "Der Name darf höchstens 120 Zeichen in einer Zeile haben. Kürzen Sie ihn oder lassen Sie ihn leer.",
    ],
    member_kind: [
        "Art des Betriebs",
        "Danach richten sich die Bezeichnungen: im Tierheim „vermittelt“ und „Schutzgebühr“, in der Tierhandlung „verkauft“ und „Preis“.",
        "Die Art muss Tierhandlung oder Tierheim sein. Wählen Sie eine davon oder keine.",
    ],
    member_about: [
        "Über uns",
        "Ein paar Sätze für die Startseite Ihrer Website, höchstens 2.000 Zeichen.",
        "Der Text über den Betrieb darf höchstens 2.000 Zeichen haben. Kürzen Sie ihn oder lassen Sie ihn leer.",
    ],
    member_contract: [
        "Vertrag",
        "Steht auf dem Ausdruck eines Vorgangs oberhalb der Unterschriften. Auf der Website ist er nicht zu sehen. Eingesetzt werden: für {animal} der Name des Tieres, für {store} der Name des Betriebs, für {microchip} die Chipnummer des Tieres, für {fee} der Preis, für {adopter} der Name des Kunden, für {date} der Tag des Verkaufs oder, solange nichts verkauft ist, das heutige Datum. Was fehlt, wird zu einer Linie zum Ausfüllen. Leerzeilen trennen Absätze; höchstens 4.000 Zeichen.",
        "Der Vertrag darf höchstens 4.000 Zeichen haben. Kürzen Sie ihn oder lassen Sie ihn leer.",
    ],
    member_email: [
        "E-Mail",
        "",
        "Die E-Mail-Adresse muss die Form name@example.org haben, ohne Leerzeichen und mit höchstens 254 Zeichen. Korrigieren Sie sie oder lassen Sie sie leer.",
    ],
    member_telephone: [
        "Telefon",
        "",
        "Die Telefonnummer muss 3 bis 40 Zeichen haben, davon mindestens 3 Ziffern; erlaubt sind Ziffern, Leerzeichen und + - ( ) / . Korrigieren Sie sie oder lassen Sie sie leer.",
    ],
    member_contact_page: [
        "Kontaktseite",
        "Die Adresse einer Seite mit Ihrem Kontaktformular. Sie beginnt mit https://. Setzen Sie {id} dort ein, wo die Nummer des Tieres stehen soll.",
        "Die Kontaktseite muss eine Adresse sein, die mit https:// beginnt, ohne Leerzeichen, ohne Benutzernamen vor einem @, ohne {id} im Namen des Servers und mit höchstens 500 Zeichen. Korrigieren Sie sie oder lassen Sie sie leer.",
    ],
    member_address: [
        "Anschrift",
        "Zeile für Zeile wie auf einem Umschlag, höchstens 500 Zeichen.",
        "Die Anschrift darf höchstens 500 Zeichen haben. Kürzen Sie sie oder lassen Sie sie leer.",
    ],
    member_hours: [
        "Öffnungszeiten",
        "Zeile für Zeile wie an Ihrer Tür, höchstens 500 Zeichen.",
        "Die Öffnungszeiten dürfen höchstens 500 Zeichen haben. Kürzen Sie sie oder lassen Sie sie leer.",
    ],
    member_language: [
        "Sprache",
        "",
        "Die Sprache muss eine aus der Liste sein. Wählen Sie eine davon oder keine.",
    ],
    member_time_zone: [
        "Zeitzone",
        "Danach richtet sich, wann ein Tag beginnt und endet: auf der Seite „Heute“, beim Alter, bei Reservierungen und auf der Website. Ist keine gewählt, richten sich Uhrzeiten nach der Zeitzone des Geräts und Tage nach der Weltzeit (UTC).",
        "Die Zeitzone muss eine aus der Liste sein. Wählen Sie eine davon oder keine.",
    ],
    member_currency: [
        "Währung",
        "Etwa EUR, €, GBP, USD oder CHF.",
        "Diese Währung ist nicht bekannt oder nicht eindeutig. Geben Sie drei Buchstaben ein, etwa EUR, oder ein Zeichen wie €. Sie können das Feld auch leer lassen.",
    ],
    member_colour: [
        "Farbe",
        "Die Farbe der Schaltflächen und Links der Website: Wählen Sie sie unten aus oder geben Sie einen Namen wie Grün oder einen Code wie #2f6f4f ein.",
        "Diese Farbe ist nicht bekannt. Wählen Sie unten eine aus, oder geben Sie einen Namen wie Grün ein oder # mit sechs Ziffern oder Buchstaben von a bis f. Sie können das Feld auch leer lassen.",
    ],
    zone_of_device: "Dieses Gerät",
    zone_regions: [
        "Afrika",
        "Amerika",
        "Antarktis",
        "Arktis",
        "Asien",
        "Atlantik",
        "Australien",
        "Europa",
        "Indischer Ozean",
        "Pazifik",
    ],
    store_kind: |kind| match kind {
        StoreKind::Shop => "Tierhandlung",
        StoreKind::Shelter => "Tierheim",
    },

    // Moments in words.
    just_now: "gerade eben",
    tomorrow: "morgen",
    yesterday: "gestern",
    ago: |count, unit| format!("vor {}", span(count, unit)),
    ahead: |count, unit| format!("in {}", span(count, unit)),
    soon: "in weniger als einer Minute",
    doubted_clock: |now, confirmed, hours| {
        format!(
            "Die Uhr des Servers zeigt {now}, die letzte bestätigte Zeit ist aber {confirmed}. Bis das geklärt ist, endet keine Reservierung. Bitten Sie den Betreiber des Dienstes, die Uhr zu stellen oder, wenn sie richtig geht, „petstore clock confirm“ auszuführen. Läuft die Uhr gleichmäßig weiter, gilt sie in {hours} Std. als richtig."
        )
    },
    shelter_fields: "Weitere Felder für ein Tierheim",
    shelter_fields_hint: "Ein Klick fügt diese Felder hinzu. Sie sind zunächst leer, an den Tieren ändert sich nichts.",
    add_shelter_fields: "Felder hinzufügen",
    by_place: |place| format!("Nach {place}"),
    store_labels: "Bezeichnungen der Felder in der Sprache des Betriebs",
    store_labels_hint: "Bezeichnungen, die jemand geändert hat, bleiben. An den Tieren ändert sich nichts.",
    labels_with_language: "Auch die Bezeichnungen der Felder (etwa „Tierart“ und „Geschlecht“) auf diese Sprache umstellen",
    write_labels: "Bezeichnungen übernehmen",
    no_backup: "Es gibt noch keine Sicherung. Bitten Sie den Betreiber des Dienstes, Sicherungen einzuschalten.",
    old_backup: |at| {
        format!(
            "Die letzte Sicherung ist vom {at}. Sagen Sie dem Betreiber des Dienstes Bescheid: Warum es keine neuere gibt, steht im Protokoll des Dienstes."
        )
    },
};

fn status(status: PetStatus) -> &'static str {
    match status {
        PetStatus::Available => "Verfügbar",
        PetStatus::Pending => "Reserviert",
        PetStatus::Sold => "Verkauft",
    }
}

fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "Reserviert",
        OrderStatus::Completed => "Verkauft",
        OrderStatus::Cancelled => "Storniert",
        OrderStatus::Expired => "Abgelaufen",
        OrderStatus::Returned => "Zurückgegeben",
    }
}

fn reason(reason: WithdrawalReason) -> &'static str {
    match reason {
        WithdrawalReason::Died => "Verstorben",
        WithdrawalReason::Transferred => "An anderes Tierheim oder Geschäft abgegeben",
        WithdrawalReason::Reclaimed => "Vom Besitzer wieder abgeholt",
        WithdrawalReason::Mistake => "Versehentlich hinzugefügt",
        WithdrawalReason::Other => "Anderer Grund",
    }
}

fn change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Hinzugefügt",
        ChangeType::PetChanged => "Geändert",
        ChangeType::PetWithdrawn => "Abgang eingetragen",
        ChangeType::PetRestored => "Abgang rückgängig gemacht",
        ChangeType::OrderPlaced => "Reserviert",
        ChangeType::OrderChanged => "Vorgang geändert",
        ChangeType::OrderCompleted => "Verkauft",
        ChangeType::OrderCancelled => "Reservierung storniert",
        ChangeType::OrderExpired => "Reservierung abgelaufen",
        ChangeType::OrderReturned => "Zurückgegeben",
        ChangeType::OrderReopened => "Wieder reserviert",
        ChangeType::CategoryChanged => "Kategorie hinzugefügt oder umbenannt",
        ChangeType::CategoryDeleted => "Kategorie gelöscht",
        ChangeType::NoteAdded => "Notiz hinzugefügt",
        ChangeType::NoteChanged => "Notiz geändert",
        ChangeType::NoteDeleted => "Notiz gelöscht",
        ChangeType::PetsImported => "Importiert",
    }
}

fn animals(count: usize) -> String {
    if count == 1 {
        "1 Tier".to_owned()
    } else {
        format!("{} Tiere", in_digits(count))
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Available => "Es ist verfügbar.".to_owned(),
        PetStatus::Pending => "Es ist schon reserviert.".to_owned(),
        PetStatus::Sold => "Es ist schon verkauft.".to_owned(),
    }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Tier hinzugefügt",
        ChangeType::PetChanged => "Tier geändert",
        ChangeType::PetWithdrawn => "Sonstiger Abgang eines Tieres eingetragen",
        ChangeType::PetRestored => "Sonstiger Abgang eines Tieres rückgängig gemacht",
        ChangeType::PetsImported => "Tiere importiert",
        ChangeType::OrderPlaced => "Tier reserviert",
        ChangeType::OrderCompleted => "Tier verkauft",
        ChangeType::OrderReturned => "Tier zurückgegeben",
        ChangeType::OrderReopened => "Vorgang wieder geöffnet",
        other => change(other),
    }
}

fn days(count: u64) -> String {
    if count == 1 {
        "1 Tag".to_owned()
    } else {
        format!("{count} Tage")
    }
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Versehentlich verkauft? Auf „Reserviert“ setzen",
        OrderStatus::Cancelled => "Versehentlich storniert? Wieder reservieren",
        _ => "Wieder reservieren",
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    let is = match status {
        OrderStatus::Reserved => "ist noch eine Reservierung",
        OrderStatus::Completed => "ist schon ein Verkauf, und das Tier wurde seitdem geändert",
        OrderStatus::Cancelled => "ist schon storniert",
        OrderStatus::Expired => "ist abgelaufen",
        OrderStatus::Returned => "ist abgeschlossen: Das Tier wurde schon zurückgegeben",
    };
    format!("Vorgang {id} {is}. Diesmal wurde nichts geändert.")
}

fn this_photo(number: usize, animal: &str) -> String {
    format!("Foto {number} von {animal}")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Nur Ansicht",
        Role::Clerk => "Bearbeitung",
        Role::Manager => "Leitung",
    }
}

fn what_role_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Nur Ansicht: kann nichts ändern",
        Role::Clerk => "Bearbeitung: kann Tiere und Vorgänge ändern",
        Role::Manager => {
            "Leitung: kann auch die Einstellungen ändern, etwa Team, API-Schlüssel und Felder, und das Protokoll sehen"
        }
    }
}

fn span(count: i64, unit: Unit) -> String {
    let (one, several) = match unit {
        Unit::Minute => ("Minute", "Minuten"),
        Unit::Hour => ("Stunde", "Stunden"),
        Unit::Day => ("Tag", "Tagen"),
    };
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The German texts of the pages for the staff that a shelter has in other words than a shop.
pub(crate) mod shelter {
    use super::{animals, days};
    use crate::console::Texts;
    use petstore_domain::{
        PetStatus, Scope,
        store_area::{ActType, ChangeType, OrderStatus, SubjectKind, WithdrawalReason},
    };

    pub(crate) static TEXTS: Texts = Texts {
        reference_hint: "Ihre eigene Nummer, z.\u{a0}B. die des Schutzvertrags oder der Quittung. Bitte keine Namen eintragen.",
        sold_at: "Vermittelt am",
        sold_today: "Heute vermittelt",
        all_sales: "Alle Vermittlungen",
        sell_more: "Als vermittelt eintragen\u{a0}…",
        sell: "Als vermittelt eintragen",
        sell_now: "Jetzt als vermittelt eintragen",
        take_back_hint: "Das Tier kommt zurück und ist dann wieder verfügbar.",
        sold_without_order: "Das Tier wurde ohne Vorgang als vermittelt eingetragen. Zum Korrigieren ändern Sie seinen Status.",
        pending_without_order: "Das Tier wurde ohne Vorgang als reserviert eingetragen, deshalb hat die Reservierung kein Ende. Reservieren Sie es hier, um ein Ende festzulegen, tragen Sie es als vermittelt ein oder ändern Sie seinen Status.",
        find_order: "Vorgang suchen: Kontakt, Telefon, Tier, Belegnummer oder Vorgangsnummer",
        no_orders_hint: "Öffnen Sie ein Tier, um es zu reservieren oder als vermittelt einzutragen.",
        signature: "Unterschrift Übernehmer/in",
        signature_of_store: "Unterschrift Tierheim",
        contract_heading: "Schutzvertrag",
        store: "Tierheim",
        change_store: "Angaben zum Tierheim ändern",
        store_labels: "Bezeichnungen der Felder in der Sprache des Tierheims",
        language_of_store: |name| format!("Wie im Tierheim ({name})"),
        status_invalid: "Der Status muss verfügbar, reserviert oder vermittelt sein.",
        member_about: [
            super::TEXTS.member_about[0],
            super::TEXTS.member_about[1],
            "Der Text über das Tierheim darf höchstens 2.000 Zeichen haben. Kürzen Sie ihn oder lassen Sie ihn leer.",
        ],
        member_contract: [
            super::TEXTS.member_contract[0],
            "Steht auf dem Ausdruck eines Vorgangs oberhalb der Unterschriften. Auf der Website ist er nicht zu sehen. Eingesetzt werden: für {animal} der Name des Tieres, für {store} der Name des Tierheims, für {microchip} die Chipnummer des Tieres, für {fee} die Schutzgebühr, für {adopter} der Name unter „Übernehmer/in“, für {date} der Tag der Vermittlung oder, solange das Tier nicht vermittelt ist, das heutige Datum. Was fehlt, wird zu einer Linie zum Ausfüllen. Leerzeilen trennen Absätze; höchstens 4.000 Zeichen.",
            super::TEXTS.member_contract[2],
        ],
        act: |kind| match kind {
            ActType::ProfileChanged => "Angaben zum Tierheim geändert",
            other => super::TEXTS.act(other),
        },
        subject: |kind| match kind {
            SubjectKind::Profile => "Tierheim",
            other => super::TEXTS.subject(other),
        },
        withdraw_animals: |count, why| {
            format!("Abgang für {} eintragen ({})?", animals(count), reason(why))
        },
        reason,
        scope: |scope| match scope {
            Scope::StoreRead => "Tiere und Vorgänge ansehen (ohne Kontakte)",
            Scope::StoreWrite => "Tiere und Vorgänge ansehen und ändern (mit Kontakten)",
            Scope::StoreAdmin => {
                "Alles, auch Felder, Webhooks, Protokoll und die Angaben zum Tierheim"
            }
            other => super::TEXTS.scope(other),
        },
        any_status: "Im Tierheim",
        also_sold: "Im Tierheim oder vermittelt",
        add_sold: "Auch vermittelte Tiere",
        reserve_or_sell: "Reservieren oder vermitteln\u{a0}…",
        price: "Schutzgebühr",
        contact: "Kontakt",
        contact_of: |status| match status {
            OrderStatus::Completed | OrderStatus::Returned => "Übernehmer/in",
            _ => "Interessent/in",
        },
        contact_changed: "Kontakt geändert oder gelöscht",
        price_of_each: "Schutzgebühr pro Tier (falls abweichend)",
        status: |status| {
            if status == PetStatus::Sold {
                "Vermittelt"
            } else {
                super::status(status)
            }
        },
        order_status,
        change: |kind| {
            if kind == ChangeType::OrderCompleted {
                "Vermittelt"
            } else {
                super::change(kind)
            }
        },
        audited_change: |kind| match kind {
            ChangeType::OrderCompleted => "Tier vermittelt",
            other => super::audited_change(other),
        },
        is_in_status: |status| match status {
            PetStatus::Sold => "Es ist schon vermittelt.".to_owned(),
            other => super::is_in_status(other),
        },
        contact_hint: |kept| {
            format!(
                "Zum Beispiel Name und Telefonnummer. Wird {} nach Abschluss des Vorgangs gelöscht.",
                days(kept)
            )
        },
        no_order_found_hint: |kept| {
            format!(
                "Prüfen Sie die Schreibweise. Nach dem Abschluss eines Vorgangs bleibt der Kontakt {} lang gespeichert.",
                days(kept)
            )
        },
        sum_of: |status, count, sum| {
            let what = match (status, count) {
                (OrderStatus::Completed, 1) => "Vermittlung",
                (OrderStatus::Completed, _) => "Vermittlungen",
                (_, 1) => "Reservierung",
                _ => "Reservierungen",
            };
            if count == 1 {
                format!("{count} {what} mit {sum} Schutzgebühr")
            } else {
                format!("{count} {what} mit Schutzgebühr, insgesamt {sum}")
            }
        },
        reopen: |status| match status {
            OrderStatus::Completed => {
                "Versehentlich als vermittelt eingetragen? Auf „Reserviert“ setzen"
            }
            other => super::reopen(other),
        },
        order_is: |id, status| match status {
            OrderStatus::Completed => format!(
                "Vorgang {id} ist schon eine Vermittlung, und das Tier wurde seitdem geändert. Diesmal wurde nichts geändert."
            ),
            other => super::order_is(id, other),
        },
        sell_animals: |count| format!("{} als vermittelt eintragen?", animals(count)),
        sold_as: |order| format!("Vermittelt (Vorgang {order})."),
        sale_undone: "Die Vermittlung ist rückgängig gemacht.",
        links_hint: "Am Ende jeder öffentlichen Seite, etwa Impressum, Datenschutz oder der Ablauf einer Vermittlung.",
        ..super::TEXTS
    };

    fn order_status(status: OrderStatus) -> &'static str {
        if status == OrderStatus::Completed {
            "Vermittelt"
        } else {
            super::order_status(status)
        }
    }

    fn reason(reason: WithdrawalReason) -> &'static str {
        match reason {
            WithdrawalReason::Transferred => "An anderes Tierheim abgegeben",
            other => super::reason(other),
        }
    }
}
