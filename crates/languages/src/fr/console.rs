//! The texts of the pages for the staff, in French.

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

use super::window::de;
use crate::{console::Texts, declaration::Unit, fr::window::in_digits};

pub(crate) static TEXTS: Texts = Texts {
    language: "fr-FR",
    site: "Petstore",
    skip: "Aller au contenu",
    main_menu: "Menu principal",
    sign_out: "Se déconnecter",
    today: "Aujourd’hui",
    animals_heading: "Animaux",
    add: "Ajouter",
    orders: "Dossiers",
    activity: "Activité",
    website: "Site web",
    public_page: "Voir la page publique",
    settings: "Paramètres",
    categories: "Catégories",
    webhooks: "Webhooks",
    error_prefix: "Erreur\u{a0}: ",
    problem_heading: "Il y a un problème",
    go_back: "Retour",
    cancel: "Annuler",
    next_page: "Page suivante",
    first_page: "Première page",
    no_name: "(sans nom)",
    actions: "Actions",

    // Values.
    name: "Nom",
    number: "Numéro",
    category_number_label: "Numéro de catégorie",
    category: "Catégorie",
    status_label: "Statut",
    added_at: "Ajout",
    changed_at: "Dernière modification",
    staff_member: "un membre de l’équipe",
    program: |name| format!("le programme «\u{a0}{name}\u{a0}»"),
    a_program: "un programme",
    the_service: "le service",
    the_operator: "l’administrateur du serveur",
    reference: "Référence",
    reference_hint: "Votre propre numéro, par exemple celui de la facture ou du ticket. Pas le nom du client.",
    note: "Note",
    reason_label: "Motif",
    optional: "(facultatif)",
    until: "Réserver jusqu’au (inclus)",
    category_hint: "Choisissez une catégorie, ou saisissez son numéro.",
    animal: "Animal",
    order: "Dossier",
    placed_at: "Création",
    ends: "Échéance",
    ends_or_closed: "Date",
    closed_at: "Clôture",
    sold_at: "Vente",
    before_number: ["#", "n°", "no", "numéro", "animal", "dossier"],

    // Today.
    find_label: "Rechercher un animal\u{a0}: nom, numéro, puce, race, couleur…",
    find: "Rechercher",
    ending_today: "Échéance aujourd’hui",
    ending_tomorrow: "Échéance demain",
    ending_later: "Échéance après-demain",
    call: "Appeler",
    ending: "Réservations qui se terminent bientôt",
    none_ending: "Aucune réservation ne se termine dans les trois prochains jours.",
    sold_today: "Vendus aujourd’hui",
    all_sales: "Toutes les ventes",
    incomplete: "Ajoutés cette semaine, sans photo ou sans puce",
    no_photo: "sans photo",
    no_chip: "sans puce",
    newest_animals: "Derniers arrivés",
    shown_of: |shown, count| format!("{shown} sur {count}"),
    counting: "décompte…",
    all_reservations: "Toutes les réservations",
    empty_store: "Il n’y a pas encore d’animaux",
    empty_store_hint: "Ajoutez le premier, ou collez-en plusieurs depuis un tableur.",
    add_animals: "Ajouter des animaux",
    numbers: "Nombre d’animaux",
    first_steps: "Premiers pas",
    step_store: "Présentez-vous\u{a0}: nom, langue, logo, adresse et horaires",
    step_animal: "Ajouter un animal",
    step_import: "Importer des animaux depuis un tableur",
    step_colleague: "Ajouter un membre de l’équipe",
    step_window: "Voir les pages publiques de vos animaux",
    no_steps: "Ne plus afficher ces étapes",

    // Animal.
    edit: "Modifier",
    save: "Enregistrer",
    reserve_more: "Réserver…",
    sell_more: "Vendre…",
    reserve: "Réserver",
    sell: "Vendre",
    sell_now: "Vendre maintenant",
    cancel_reservation: "Annuler la réservation",
    take_back_more: "Enregistrer un retour…",
    take_back: "Enregistrer le retour",
    take_back_hint: "Le client rend l’animal, qui redevient disponible.",
    new_intake: "Enregistrer aussi sa nouvelle arrivée, à la date d’aujourd’hui",
    sold_without_order: "L’animal a été marqué comme vendu sans dossier. Pour corriger cela, modifiez son statut.",
    pending_without_order: "L’animal a été marqué comme réservé sans dossier\u{a0}: la réservation n’a donc pas d’échéance. Réservez-le ici pour \
     en fixer une, vendez-le ou modifiez son statut.",
    withdraw: "Enregistrer la sortie",
    withdraw_more: "Enregistrer une sortie…",
    withdraw_hint: "L’animal disparaît du site et des listes habituelles. Son historique est conservé, et la sortie peut être annulée.",
    restore: "Annuler la sortie",
    restore_hint: "L’animal reviendra dans les listes tel qu’il était.",
    choose: "Choisissez un motif",
    history: "Historique",
    older: "Entrées plus anciennes",
    whole_before: "Texte complet avant la modification",
    no_history: "Aucune modification n’a été enregistrée.",
    new_note: "Nouvelle note",
    new_note_hint: "Par exemple sur le comportement ou un appel téléphonique. Seule l’équipe voit les notes.",
    add_note: "Ajouter la note",
    correct_note: "Corriger ou supprimer",
    note_on: |animal| format!("Note sur {animal}"),
    note_corrected: "corrigée",
    note_corrected_by: |name| format!("corrigée par {name}"),
    note_missing: "Écrivez d’abord quelque chose.",
    no_note: "Cette note a été supprimée.",
    not_your_note: "Seuls l’auteur de cette note et les responsables peuvent la modifier.",
    too_many_notes: "Cet animal a déjà 500 notes. Supprimez celles qui ne servent plus.",
    delete_note: "Supprimer la note",
    delete_note_question: "Supprimer cette note\u{202f}?",
    delete_note_effect: "Son texte disparaîtra définitivement et ne pourra pas être récupéré.",
    note_was_added: "Note ajoutée.",
    note_was_changed: "Note corrigée.",
    note_was_deleted: "Note supprimée.",
    status_held: "L’animal est lié à un dossier. Pour changer son statut, ouvrez le dossier.",

    // Conflict.
    conflict: "Quelqu’un d’autre a modifié cet animal",
    conflict_hint: "Il a changé pendant que vous le modifiiez. Vos modifications ne sont pas encore enregistrées. Comparez les deux \
     versions, corrigez la vôtre si besoin, puis choisissez-en une.",
    theirs: "Version enregistrée",
    yours: "Votre version",
    save_mine: "Enregistrer la mienne",
    keep_theirs: "Garder la version enregistrée",
    different: "différent",

    // Add.
    add_one: "Un seul animal",
    add_many: "Plusieurs, depuis un tableur",
    add_animal: "Ajouter l’animal",
    add_to_number: "Ajouter l’animal à ce numéro, sans nom de catégorie",
    paste: "Lignes du tableau",
    paste_hint: "Copiez les lignes et collez-les ici\u{a0}: un animal par ligne, le nom puis la catégorie. \
     Si la première ligne contient les en-têtes, vous pouvez ajouter l’espèce, le statut et les autres champs. \
     Un animal sans catégorie va dans la catégorie habituelle de son espèce. \
     Vous verrez un aperçu avant tout ajout.",
    preview: "Aperçu",
    line: "Ligne",
    check: "Contrôle",
    fine: "OK",
    preview_hint: "Rien n’est encore ajouté. Les animaux seront ajoutés tous ensemble, ou pas du tout.",
    change_lines: "Modifier les lignes",
    preview_again: "Actualiser l’aperçu",

    // Orders.
    find_order: "Rechercher un dossier par client, téléphone, animal, référence ou numéro",
    find_order_by_animal: "Rechercher un dossier par animal, référence ou numéro",
    no_orders: "Aucun dossier ici",
    no_orders_hint: "Ouvrez un animal pour le réserver ou le vendre.",
    no_order_found: "Aucun dossier trouvé",
    all: "Tous",
    print: "Imprimer",
    place_and_date: "Lieu et date",
    signature: "Signature du client",
    signature_of_store: "Signature pour l’établissement",
    contract_heading: "Contrat de vente",
    contract_name: "Nom et prénom",
    contract_address: "Adresse",
    unknown_placeholder: |name| {
        format!(
            "Le contrat peut contenir {{animal}}, {{store}}, {{microchip}}, {{fee}}, {{adopter}} et {{date}}, mais pas {name}. Corrigez-le, ou retirez les accolades."
        )
    },
    shown_here: "Sur cette page\u{a0}:",
    only_first: "Seules les 100 réservations qui se terminent en premier sont affichées.",

    // Problems.
    no_pet: "Aucun animal ne porte ce numéro.",
    no_order: "Aucun dossier ne porte ce numéro.",
    not_found: "Introuvable",
    name_too_long: "Le nom est trop long.",
    name_missing: "Saisissez le nom de l’animal.",
    category_missing: "Saisissez la catégorie.",
    status_invalid: "Le statut doit être disponible, réservé ou vendu.",
    reason_missing: "Choisissez un motif.",
    day_invalid: "Saisissez un jour à venir, dans 400 jours au plus.",
    none_selected: "Sélectionnez d’abord au moins un animal.",
    nothing_pasted: "Collez au moins une ligne.",
    stale: "Quelqu’un d’autre a fait une modification entre-temps\u{a0}: rien n’a donc été modifié cette fois. \
     Vérifiez l’état actuel, puis réessayez.",
    nothing_changed: "Rien n’a été modifié. Ce n’est pas possible pour ces animaux\u{a0}:",
    undone_without: "Les autres animaux ont retrouvé leur valeur d’avant. Ceux-ci restent tels quels\u{a0}:",
    status,
    withdrawn: "Sortie",
    departures: "Autre sortie",
    withdrawn_filter: "Autre sortie",
    status_below: |count, status| {
        if count < 2 {
            Cow::Borrowed(status)
        } else if status == TEXTS.departures {
            Cow::Borrowed("Autres sorties")
        } else {
            Cow::Owned(format!("{status}s"))
        }
    },
    overdue: "En retard",
    order_status,
    reason,
    extended: "Réservation prolongée",
    renamed: "Catégorie renommée",
    change,
    animals,
    more_than,
    first_shown: |count| {
        if count < 2 {
            format!("{} affiché.", animals(count))
        } else {
            format!("Les {} premiers animaux sont affichés.", in_digits(count))
        }
    },
    title_of_order: |id| format!("Dossier {id}"),
    this_order: |id| format!("dossier {id}"),
    labels: |all| {
        let (last, others) = all
            .split_last()
            .map_or(("", all), |(last, others)| (*last, others));
        let others = others.join(", ");
        let both = if others.is_empty() {
            last.to_owned()
        } else {
            format!("{others} et {last}")
        };
        let mut letters = both.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + &letters.as_str().to_lowercase()
    },
    too_long: |label, most| format!("{label}\u{a0}: {} caractères au maximum.", in_digits(most)),
    form_too_large: |most| {
        format!(
            "Le formulaire a plus de {} champs\u{a0}: rien n’a été lu. Revenez en arrière et envoyez-en moins à la fois.",
            in_digits(most)
        )
    },
    select: |name| format!("Sélectionner {}", called(name)),
    add_count: |count| format!("Ajouter {}", animals(count)),
    wrong_lines: |count| {
        if count < 2 {
            format!(
                "{count} ligne a un problème. Corrigez-la ci-dessous, puis actualisez l’aperçu."
            )
        } else {
            format!(
                "{count} lignes ont un problème. Corrigez-les ci-dessous, puis actualisez l’aperçu."
            )
        }
    },
    add_with_category: |label| format!("Ajouter l’animal, et la catégorie «\u{a0}{label}\u{a0}»"),
    unknown_category: |text| {
        format!(
            "La catégorie «\u{a0}{text}\u{a0}» n’existe pas. Choisissez-en une dans la liste, ou saisissez son numéro."
        )
    },
    ambiguous_category: |text, one, other| {
        format!(
            "Plusieurs catégories portent le nom «\u{a0}{text}\u{a0}». Saisissez son numéro, par exemple {one} ou {other}."
        )
    },
    category_prefix: "Catégorie ",
    category_number: |id| format!("Catégorie {id}"),
    changed_by: |name| format!("Modifié par {name}"),
    is_withdrawn: "L’animal est sorti. Annulez d’abord sa sortie.",
    withdraw_animal: |name| format!("Enregistrer la sortie {}\u{202f}?", de(called(name))),
    has_no_reservation: "L’animal n’a pas de réservation.",
    is_gone: "Il n’existe plus.",
    is_reserved: |order| format!("L’animal est réservé (dossier {order})."),
    animal_is_reserved: |order| format!(" L’animal est réservé (dossier {order})."),
    is_in_status,

    // Categories.
    no_categories: "Aucune catégorie n’a encore de nom",
    no_categories_hint: "Donnez un nom à la première, par exemple Chiens. Tout le monde pourra ensuite la choisir par ce nom.",
    name_category_heading: "Ajouter ou renommer une catégorie",
    category_number_hint: "Un numéro libre est proposé. Pour changer le nom d’une catégorie, saisissez son numéro et le nouveau nom.",
    label_missing: "Saisissez le nom de la catégorie.",
    label_invalid: "Saisissez de 1 à 255 caractères.",
    no_free_number: "Aucun numéro libre n’a été trouvé. Saisissez un numéro sur la page Catégories.",
    number_invalid: "Saisissez un nombre entier.",

    // Adding one animal.
    category_of_species: "Si vous ne choisissez rien, l’animal va dans la catégorie habituelle de son espèce, créée si besoin.",
    species_or_category: "Choisissez une espèce ou une catégorie.",
    or_about: "Ou âge approximatif",
    about_hint: "Par exemple 2 ans ou 8 mois\u{202f}; sans unité, ce sont des années.",
    ages_typed: ["a an ans année années", "m mois", "s sem semaine semaines"],
    age_invalid: "Saisissez un âge en années, par exemple 2, ou bien 8 mois ou 10 semaines.",
    birth_too_early: "Cela fait plus de 150 ans. Saisissez un âge de 150 ans au plus, ou une date de naissance plus récente.",
    born_or_age: "Saisissez la date de naissance ou l’âge, et laissez l’autre vide.",

    // The texts about fields and their values.
    fields: "Champs",
    fields_hint: "Les champs décrivent vos animaux. Ils apparaissent dans les formulaires, sur les fiches et dans les données transmises à d’autres programmes.",
    more_fields: "Autres champs",
    any_value: "Indifférent",
    no_value: "–",
    field_label: "Libellé",
    field_label_hint: "Libellé affiché, par exemple Race.",
    field_name: "Nom technique",
    field_name_hint: "Lettres minuscules, chiffres et tirets bas, par exemple longueur_poil. Si vous laissez ce champ vide, le nom est formé à partir du libellé. Il ne pourra plus être modifié.",
    field_name_invalid: "Saisissez un nom technique\u{a0}: de 1 à 32 lettres minuscules, chiffres et tirets bas, en commençant par une lettre.",
    field_name_taken: "Un autre champ porte ce nom technique. Saisissez-en un autre.",
    field_label_taken: "Un autre champ porte déjà ce libellé. Les deux se confondraient dans tous les formulaires. Saisissez-en un autre.",
    field_kind: "Type",
    choose_kind: "Choisissez un type",
    field_label_invalid: "Saisissez un libellé de 1 à 255 caractères.",
    field_kind_missing: "Choisissez un type.",
    field_choices: "Choix",
    more_choices: "Autres choix",
    remove_choice: "Supprimer",
    field_labels_hint: "Pour renommer un choix, changez son libellé\u{a0}: les animaux le gardent. Les programmes continuent d’utiliser le premier nom.",
    field_labels_invalid: "Chaque choix doit avoir un nom de 1 à 100 caractères qu’aucun autre choix n’a ni n’a eu. Majuscules et minuscules \
     comptent comme identiques.",
    field_choices_hint: "Seulement pour le type «\u{a0}Choix dans une liste\u{a0}»\u{a0}: un par ligne, 100 au plus, de 64 caractères au maximum chacun.",
    field_choices_invalid: "Saisissez de 1 à 100 choix différents, un par ligne, de 64 caractères au maximum chacun. Majuscules et minuscules comptent comme identiques.",
    field_position: "Position",
    field_position_hint: "De 0 à 10\u{202f}000. Les champs s’affichent par position croissante. Sans position, le champ vient en dernier.",
    field_position_invalid: "Saisissez une position de 0 à 10\u{202f}000.",
    field_public: "Afficher sur le site web",
    field_public_hint: "Tout le monde peut voir les valeurs.",
    field_unique: "Unique",
    field_unique_hint: "Deux animaux ne peuvent pas avoir la même valeur, comme pour un numéro de puce. Seulement pour les textes et les nombres entiers.",
    add_field: "Ajouter un champ",
    delete_field: "Supprimer le champ",
    field_deleted_effect: "Il disparaît de tous les formulaires et de toutes les pages. Ce n’est possible que s’il n’est renseigné pour aucun animal.",
    birth_invalid: "Saisissez une date avec le jour, le mois et l’année, par exemple 03/05/2024, qui ne soit pas dans le futur.",
    no_field: "Ce champ n’existe pas.",
    field_in_use: "Ce champ est renseigné pour des animaux. Tant que c’est le cas (animaux sortis compris), il ne peut pas être supprimé, \
     et son type et «\u{a0}Unique\u{a0}» ne peuvent pas changer.",
    too_many_fields: "Il y a déjà 50 champs. Supprimez-en un avant d’en ajouter un autre.",
    field_changed: "Quelqu’un d’autre a modifié ce champ en même temps. Vérifiez son état actuel, puis enregistrez à nouveau.",
    delete_choice: |choice| format!("Supprimer le choix «\u{a0}{choice}\u{a0}»\u{202f}?"),
    show_field: |label| format!("Publier «\u{a0}{label}\u{a0}» sur le site\u{202f}?"),
    change_field: |label| format!("Modifier le champ «\u{a0}{label}\u{a0}»\u{202f}?"),
    choice_in_use: |count, most, choice| {
        let animals = if count > most {
            format!("plus de {}", animals(most))
        } else {
            animals(count)
        };
        format!(
            "«\u{a0}{choice}\u{a0}» est utilisé pour {animals}. Cette valeur y reste, mais elle ne pourra plus être choisie pour d’autres. Pour la renommer, changez plutôt son libellé."
        )
    },
    becomes_public: |count, has_more| {
        let animals = if has_more {
            "de nombreux animaux".to_owned()
        } else {
            animals(count)
        };
        format!("Ce champ est renseigné pour {animals}. Tout le monde pourra le lire.")
    },
    kind: |kind| match kind {
        FieldKind::Text => ("Texte", "Saisissez 255 caractères au maximum."),
        FieldKind::LongText => (
            "Texte long",
            "Saisissez 8\u{202f}000 caractères au maximum.",
        ),
        FieldKind::Integer => (
            "Nombre entier",
            "Saisissez un nombre entier, par exemple 4.",
        ),
        FieldKind::Decimal => (
            "Nombre décimal",
            "Saisissez un nombre, par exemple 249,00, avec au plus 12 chiffres avant la virgule et 4 après.",
        ),
        FieldKind::Date => (
            "Date",
            "Saisissez une date avec le jour, le mois et l’année, par exemple 03/05/2024.",
        ),
        FieldKind::Boolean => ("Oui ou non", "Indiquez oui ou non."),
        FieldKind::Choice => ("Choix dans une liste", "Choisissez dans la liste."),
    },
    animal_with_number: |name, number| format!("{name} (numéro {number})"),
    value_taken: |label, other| {
        format!("{label}\u{a0}: {other} a déjà cette valeur. Chaque animal doit avoir la sienne.")
    },
    other_new: "un autre de ces animaux",
    show_animal: |other| format!("Voir {}", called(other)),
    shared_value: |label| {
        format!(
            "{label}\u{a0}: ces animaux ont la même valeur, qui doit être unique. Changez-la pour tous sauf un\u{a0}:"
        )
    },
    field_removed: |label, typed| {
        format!(
            "Le champ {label} a été supprimé. Votre saisie\u{a0}: {typed}. Elle ne sera pas enregistrée quand vous renverrez le formulaire."
        )
    },
    choice_removed: |label, chosen| {
        format!(
            "{label}\u{a0}: {chosen} n’est plus un choix possible. Choisissez-en un autre, ou aucun."
        )
    },
    number_shortened: |typed| {
        format!(
            "Excel a abrégé le nombre en {typed}, et ses derniers chiffres manquent. Dans Excel, sélectionnez la colonne, choisissez «\u{a0}Format de cellule\u{a0}», «\u{a0}Nombre\u{a0}» avec 0 décimale, puis copiez-la à nouveau."
        )
    },
    spreadsheet_error: |cell| {
        format!(
            "{cell} n’est pas une valeur. Si la cellule affiche ####, élargissez la colonne dans le tableur\u{202f}; sinon, corrigez la formule ou videz la cellule. Copiez et collez ensuite les lignes à nouveau."
        )
    },

    // The list of animals, and its bar.
    on_website: "Sur le site",
    not_on_website: "Pas sur le site",
    listing_invalid: "Indiquez oui ou non.",
    website_hint: "Choisissez «\u{a0}Pas sur le site\u{a0}», par exemple pendant la quarantaine ou le délai légal de garde. Seule l’équipe verra l’animal.",
    website_more: "Site web…",
    put_on_website: "Publier sur le site",
    take_off_website: "Retirer du site",
    any_status: "Présent",
    also_sold: "Présent ou vendu",
    filter: "Filtrer",
    filters: "Filtres",
    add_sold: "Inclure les vendus",
    take_off: " (retirer)",
    show: "Afficher",
    any_category: "Indifférent",
    none_here: "Aucun ici pour le moment",
    nothing_found: "Aucun animal trouvé",
    nothing_found_hint: "Vérifiez l’orthographe, ou saisissez seulement le début du nom.",
    none_match: "Aucun animal ne correspond à ces filtres.",
    search_orders: |typed| format!("Rechercher «\u{a0}{typed}\u{a0}» dans les dossiers"),
    select_all: "Tout sélectionner sur cette page",
    skip_list: "Aller aux actions",
    with_selected: "Modifier les animaux sélectionnés",
    all_or_none: "Si l’un d’eux ne peut pas être modifié, aucun ne l’est.",
    reserve_or_sell: "Réserver ou vendre…",
    move_more: "Changer de catégorie…",
    move_label: "Changer de catégorie",
    value_more: "Modifier une valeur…",
    new_value: "Nouvelle valeur",
    value_hint: "Selon le champ\u{a0}: un choix de la liste, oui ou non, une date, un nombre ou un texte. Laissez vide pour effacer la valeur.",
    field_of_animals: "Champ",
    choose_field: "Choisissez un champ",
    field_missing: "Choisissez le champ à modifier.",
    cancel_reservations: "Annuler les réservations",
    clear: "Retirer les filtres",
    chip: |label, value| format!("{label}\u{a0}: {value}"),
    too_many_filters: |most, left_out| {
        format!(
            "Vous pouvez filtrer par {most} champs au plus\u{202f}; non appliqué\u{a0}: {left_out}. Retirez d’abord un autre filtre."
        )
    },

    // The texts of the pages for managers.

    // Activity.
    export: "Exporter en CSV",
    no_activity: "Aucune activité pendant cette période",
    no_activity_hint: "Choisissez d’autres jours, ou retirez un filtre.",
    no_activity_yet: "Aucun résultat pour l’instant",
    no_activity_yet_hint: "Les entrées les plus récentes ne correspondent pas. La page suivante continue avec les plus anciennes.",
    since: "Du",
    up_to: "Au (inclus)",
    animal_number: "Numéro de l’animal",
    any_type: "Toutes",
    when: "Date",
    who: "Auteur",
    what: "Action",
    about: "Concerne",
    difference: "Détails",
    export_cut: "D’autres entrées suivent. Exportez moins de jours à la fois.",
    list_export_cut: "D’autres lignes suivent. Filtrez la liste et exportez-la en plusieurs parties.",
    audited_change,
    act: |kind| match kind {
        ActType::KeyCreated => "Clé d’API créée",
        ActType::KeyRotated => "Clé d’API renouvelée",
        ActType::KeyRevoked => "Clé d’API révoquée",
        ActType::WebhookAdded => "Webhook ajouté",
        ActType::WebhookChanged => "Webhook modifié",
        ActType::WebhookDeleted => "Webhook supprimé",
        ActType::WebhookSecretRotated => "Secret de webhook renouvelé",
        ActType::WebhookEnabled => "Webhook activé",
        ActType::WebhookDisabled => "Webhook désactivé",
        ActType::FieldAdded => "Champ ajouté",
        ActType::FieldChanged => "Champ modifié",
        ActType::FieldDeleted => "Champ supprimé",
        ActType::ProfileChanged => "Informations sur l’établissement modifiées",
        ActType::StaffAdded => "Membre ajouté",
        ActType::StaffRoleChanged => "Rôle d’un membre modifié",
        ActType::StaffReset => "Accès d’un membre réinitialisé",
        ActType::StaffDisabled => "Membre bloqué",
        ActType::StaffPasswordSet => "Mot de passe défini",
        ActType::StaffLinked => "Associé au fournisseur de connexion",
        ActType::StaffSecondFactorSet => "Double authentification configurée",
        ActType::StaffSecondFactorRemoved => "Double authentification désactivée",
        ActType::StaffPasskeyAdded => "Clé d’accès ajoutée",
        ActType::StaffPasskeyRemoved => "Clé d’accès supprimée",
        ActType::StaffSignedIn => "Connexion",
        ActType::StaffSignInFailed => "Échec de connexion",
        ActType::StaffSessionsEnded => "Sessions fermées",
        ActType::DatabaseCopied => "Base de données copiée",
        ActType::DatabaseRestored => "Base de données restaurée",
        ActType::DatabaseTimeConfirmed => "Horloge de la base de données confirmée",
    },
    subject: |kind| match kind {
        SubjectKind::Pet => "Animal",
        SubjectKind::Pets => "Animaux",
        SubjectKind::Order => "Dossier",
        SubjectKind::Category => "Catégorie",
        SubjectKind::Note => "Note",
        SubjectKind::Key => "Clé d’API",
        SubjectKind::Staff => "Membre",
        SubjectKind::Webhook => "Webhook",
        SubjectKind::Field => "Champ",
        SubjectKind::Profile => "Établissement",
        SubjectKind::Database => "Base de données",
    },

    // Webhooks.
    webhooks_hint: "Un webhook informe un autre programme de chaque modification, par exemple votre site web ou votre comptabilité.",
    no_webhooks: "Pas encore de webhook",
    no_webhooks_hint: "Ajoutez-en un avec l’adresse que vous donne l’autre programme.",
    no_webhook: "Aucun webhook ne porte ce numéro.",
    add_webhook: "Ajouter un webhook",
    address: "Adresse",
    address_hint: "Elle commence par https://.",
    description: "Description",
    sends: "Modifications envoyées",
    sends_hint: "Si vous ne choisissez rien, chaque modification est envoyée.",
    every_change: "Chaque modification",
    works: "Fonctionne",
    not_used: "Pas encore utilisé",
    url_missing: "Saisissez l’adresse.",
    url_invalid: "Saisissez une adresse telle que https://shop.example/hooks, sans espaces, nom d’utilisateur, mot de passe ni partie après #. Pour http:// ou une adresse du réseau interne, demandez à l’administrateur du serveur.",
    fails: "En échec",
    off: "Désactivé",
    fails_since: "En échec depuis",
    attempts: "Derniers envois",
    no_attempts: "Rien n’a encore été envoyé.",
    result: "Résultat",
    duration: "Durée",
    delivered: "Remis",
    failed: "Échec",
    test: "Envoyer un message de test",
    test_hint: "Le résultat apparaît un instant plus tard dans la liste des envois.",
    enable: "Reprendre là où il s’est arrêté",
    enable_hint: "Tout ce qui s’est passé depuis est envoyé.",
    enable_now: "Reprendre à partir de maintenant",
    enable_now_hint: "Ce qui s’est passé entre-temps n’est jamais envoyé.",
    disable: "Désactiver",
    block_member: "Bloquer",
    disable_hint: "Plus rien n’est envoyé avant la réactivation.",
    rotate: "Créer un nouveau secret",
    rotate_hint: "L’ancien reste valable 24 heures.",
    delete: "Supprimer",
    delete_webhook: "Supprimer ce webhook",
    delete_hint: "La liste de ses envois est supprimée aussi. C’est irréversible.",
    secret: "Le secret du webhook",
    secret_hint: "Copiez-le maintenant dans les paramètres du programme. Il ne sera plus affiché.",
    too_many_webhooks: "Il y a déjà 100 webhooks. Supprimez-en un d’abord.",
    failing_webhooks: |count| {
        if count < 2 {
            format!("{count} webhook ne reçoit pas ses messages.")
        } else {
            format!("{count} webhooks ne reçoivent pas leurs messages.")
        }
    },
    show_webhooks: "Voir les webhooks",
    disabled: |reason| match reason {
        DisabledReason::Failures => {
            "Désactivé, car tous les messages ont échoué pendant cinq jours"
        }
        DisabledReason::Gone => "Désactivé, car le destinataire refuse les messages",
        DisabledReason::Request => "Désactivé manuellement",
    },

    // Orders.
    price: "Prix",
    contact: "Client",
    contact_of: |_| TEXTS.contact,
    contact_hint: |kept| {
        format!(
            "Par exemple un nom et un numéro de téléphone. Ces coordonnées sont supprimées {} après la vente ou la fin de la réservation.",
            days(kept)
        )
    },
    no_order_found_hint: |kept| {
        format!(
            "Vérifiez l’orthographe. Les coordonnées du client d’un dossier clos sont conservées pendant {}.",
            days(kept)
        )
    },
    only_newest: |searched| {
        format!(
            "La recherche porte seulement sur les {} derniers dossiers et les premiers animaux de ce nom.",
            in_digits(searched)
        )
    },
    orders_found: |count, has_more| {
        let orders = if has_more {
            "dossiers"
        } else {
            of_count(count, "dossier", "dossiers")
        };
        let more = if has_more { " ou plus" } else { "" };
        format!("{count} {orders}{more}")
    },
    sum_of: |status, count, sum| {
        let what = match status {
            OrderStatus::Completed => of_count(count, "vente", "ventes"),
            _ => of_count(count, "réservation", "réservations"),
        };
        format!("{count} {what} avec prix indiqué, {sum} au total")
    },
    text_too_long: "Saisissez 500 caractères au maximum.",
    contact_changed: "Client modifié ou supprimé",
    change_order: "Modifier le dossier",
    extend_or_change: "Prolonger la réservation ou modifier le dossier",
    price_invalid: "Saisissez un montant, par exemple 249,00.",
    ambiguous: |typed, [one, other], [first, second]| {
        format!("{typed} peut signifier {one} ou {other}. Écrivez {first} ou {second}.")
    },
    reopen,
    typed_here: "Vous avez saisi ceci, qui n’est pas enregistré\u{a0}:",
    that_was: "Enregistré",
    did_that: |name| format!("Enregistré par {name}"),
    order_before: "Dossier précédent",
    price_of_each: "Prix par animal (laissez vide pour garder celui de chaque fiche)",
    order_is,

    // Photos.
    manage_photos: "Gérer les photos",
    to_animal: "Retour à la fiche",
    add_photos: "Ajouter des photos",
    photos_hint: "JPEG, PNG, WebP ou GIF. Vous pouvez choisir plusieurs photos, ou en prendre une avec l’appareil photo.",
    upload: "Envoyer",
    save_texts_first: "Appuyez sur «\u{a0}Enregistrer\u{a0}» avant d’appuyer sur «\u{a0}Envoyer\u{a0}»\u{a0}: l’envoi n’enregistre pas les descriptions.",
    make_main: "Photo principale",
    move_up: "Déplacer à gauche",
    move_down: "Déplacer à droite",
    turn_left: "Pivoter à gauche",
    turn_right: "Pivoter à droite",
    look_more: "Cadrage",
    look_hint: "Les listes montrent une partie de la photo. Cliquez sur la partie qui doit rester visible, ou choisissez-la ci-dessous.",
    points: [
        "Non précisé",
        "En haut à gauche",
        "En haut",
        "En haut à droite",
        "À gauche",
        "Au centre",
        "À droite",
        "En bas à gauche",
        "En bas",
        "En bas à droite",
    ],
    look_at_pressed: "Le point sur lequel vous avez cliqué",
    uploads: [
        "En attente",
        "Envoi en cours",
        "En attente de connexion",
        "Ajoutée",
        "Non ajoutée.",
        "Réessayer",
        "Ignorer cette photo",
        "Cette photo est trop lourde. Choisissez-en une plus légère, ou prévenez l’administrateur du serveur.",
        "Le service est injoignable.",
        "Votre session est fermée. Connectez-vous dans un autre onglet, puis appuyez à nouveau sur le bouton.",
        "C’est la même photo que {}.",
        "20 photos au maximum par animal\u{202f}; non envoyées ({})\u{a0}: {}",
        "1 photo ajoutée.",
        "{} photos ajoutées.",
        "Photos non ajoutées\u{a0}: {}.",
        "Les photos sont encore en cours d’envoi. Le formulaire sera envoyé ensuite.",
    ],
    photos: "Photos",
    photos_after: "Ajoutez d’abord l’animal, puis ses photos avec «\u{a0}Gérer les photos\u{a0}» sur sa fiche.",
    take_photo: "Garder",
    no_picture: "Ce fichier n’est pas une image JPEG, PNG, WebP ou GIF. Choisissez-en un autre.",
    picture_too_large: "Cette image est trop grande. Choisissez-en une plus petite.",
    too_many_pictures: "Trop d’images sont en attente pour l’instant. Réessayez.",
    photos_not_added: "Votre session est fermée. Les photos n’ont pas été ajoutées\u{a0}: connectez-vous, et choisissez-les à nouveau.",
    heic: "C’est une image HEIC. Réglez l’appareil photo sur «\u{a0}Le plus compatible\u{a0}» (sur un iPhone\u{a0}: \
     Réglages, Appareil photo, Formats) et reprenez la photo, ou choisissez un fichier JPEG.",
    another_member: "Quelqu’un d’autre s’est connecté entre-temps. Connectez-vous avec votre compte dans un autre onglet, \
     puis appuyez à nouveau sur le bouton. Sans JavaScript, choisissez à nouveau les photos.",
    too_many_photos: "20 photos sur 20. Supprimez-en une pour en ajouter une autre.",
    photo_is_gone: "La photo sera supprimée. Vous avez un jour pour revenir en arrière.",
    photo_not_kept: "Cette photo ne peut pas être récupérée\u{a0}: elle a été supprimée il y a trop longtemps. Ajoutez-la à nouveau.",
    put_back: "Récupérer",
    photo_added: "Photo ajoutée",
    photo_turned: "Photo pivotée",
    photo_deleted: "Photo supprimée",
    photos_moved: "Ordre des photos modifié",
    photo_focused: "Cadrage d’une photo choisi",
    photo_described: "Photo décrite",
    photo_file_missing: "Le fichier de cette photo manque\u{a0}: elle ne peut pas être pivotée. Prévenez l’administrateur du serveur.",
    photo_of: |number, animal, alt| {
        alt.map_or_else(
            || format!("Photo {number} {}", de(called(animal))),
            str::to_owned,
        )
    },
    this_photo: |number, animal| format!("la photo {number} {}", de(called(animal))),
    photos_of: |animal| format!("Photos {}", de(called(animal))),
    look_at: |number| format!("Cadrage de la photo {number}"),
    alt_of: |number| {
        format!("Description de la photo {number} (pour les personnes qui ne la voient pas)")
    },
    photo_button: |label, number| format!("{label}\u{a0}: photo {number}"),
    photos_lost: |count| {
        let lost = of_count(
            count,
            "photo a attendu trop longtemps ou était en trop, et ne sera pas ajoutée",
            "photos ont attendu trop longtemps ou étaient en trop, et ne seront pas ajoutées",
        );
        format!("{count} {lost}. Choisissez à nouveau ce qui manque, puis renvoyez le formulaire.")
    },
    photos_added: |count| {
        format!(
            "{count} {}.",
            of_count(count, "photo ajoutée", "photos ajoutées")
        )
    },

    // What the pages ask before they do something, and what they say first afterwards.

    // Categories.
    more_categories: "Pour les autres, ouvrez Catégories.",
    name_it: "Donner ce nom",
    rename_category: |old, new| {
        format!("Renommer la catégorie «\u{a0}{old}\u{a0}» en «\u{a0}{new}\u{a0}»\u{202f}?")
    },
    name_category: |id, label| {
        format!("Donner à la catégorie {id} le nom «\u{a0}{label}\u{a0}»\u{202f}?")
    },
    category_has: |count| {
        let are = of_count(
            count,
            "est dans cette catégorie et affichera désormais ce nom",
            "sont dans cette catégorie et afficheront désormais ce nom",
        );
        format!("{} {are}.", animals(count))
    },
    label_taken: |label, id| {
        format!(
            "La catégorie {id} porte déjà le nom «\u{a0}{label}\u{a0}». Les deux se confondraient dans toutes les listes."
        )
    },
    cancels: |order| {
        format!("L’animal est réservé. Sa réservation, le dossier {order}, sera annulée.")
    },

    // Several animals at once.
    change_verb: "Modifier",
    move_animals: |count, category| {
        format!(
            "Changer {} de catégorie («\u{a0}{category}\u{a0}»)\u{202f}?",
            animals(count)
        )
    },
    change_animals: |count, label, value| {
        format!(
            "Modifier {} ({label}\u{a0}: «\u{a0}{value}\u{a0}»)\u{202f}?",
            animals(count)
        )
    },
    clear_animals: |count, label| {
        format!(
            "Effacer «\u{a0}{label}\u{a0}» pour {}\u{202f}?",
            animals(count)
        )
    },
    reserve_animals: |count, end| {
        format!("Réserver {} jusqu’au {end} inclus\u{202f}?", animals(count))
    },
    sell_animals: |count| format!("Vendre {}\u{202f}?", animals(count)),
    cancel_reservations_of: |count| {
        let reservations = of_count(count, "la réservation", "les réservations");
        format!("Annuler {reservations} de {}\u{202f}?", animals(count))
    },
    withdraw_animals: |count, why| {
        format!(
            "Enregistrer la sortie de {} ({})\u{202f}?",
            animals(count),
            reason(why).to_lowercase()
        )
    },
    list_animals: |count| format!("Publier {} sur le site\u{202f}?", animals(count)),
    unlist_animals: |count| format!("Retirer {} du site\u{202f}?", animals(count)),

    // Pasted lines.
    no_heading: "La ligne a plus de cellules qu’il n’y a de colonnes.",
    several_lines: "La cellule a plusieurs lignes. Un guillemet n’est-il pas fermé\u{202f}?",
    quote_not_closed: "Un guillemet n’est pas fermé, ou se trouve dans une cellule sans guillemets autour. Écrivez une telle cellule \"Dit \"\"Max\"\"\", ou supprimez le guillemet.",
    columns: "Colonnes",
    leave_out: "Ignorer",
    first_line: "La première ligne",
    first_line_is: ["est un animal", "contient les en-têtes"],
    first_line_has_headings: "La première ligne contient les en-têtes",
    first_line_counts: "Pour l’instant, la première ligne compte comme un animal.",
    unknown_columns: "Que contiennent ces colonnes\u{202f}?",
    see_above: "Voir ci-dessus",
    lines_with: |numbers| format!("Lignes {numbers}"),
    separator: "Les cellules sont séparées par",
    separators: ["une virgule", "un point-virgule", "une tabulation"],
    titles_left_out: |titles| format!("Ignoré au-dessus des en-têtes\u{a0}: {titles}"),
    column_ambiguous: |heading, one, other| {
        format!("«\u{a0}{heading}\u{a0}» peut être {one} ou {other}. Choisissez.")
    },
    column: |heading| format!("«\u{a0}{heading}\u{a0}» correspond à"),
    chosen_twice: |label| {
        format!(
            "Deux colonnes correspondent à «\u{a0}{label}\u{a0}». Choisissez autre chose pour l’une des deux."
        )
    },
    column_missing: |label| {
        format!("Choisissez la colonne qui correspond à «\u{a0}{label}\u{a0}».")
    },
    left_out: |headings| format!("Ignorer {headings}"),
    left_out_hint: "Ces colonnes ne sont pas importées. Choisissez ce qu’elles contiennent, ou confirmez qu’elles sont ignorées\u{a0}:",
    column_number: |number| format!("colonne {number}"),
    leave_out_first: "Cochez la case pour ignorer les autres colonnes, ou choisissez ce qu’elles contiennent.",
    first_lines: |taken, rest| {
        let rest = if rest < 2 {
            "L’animal restant est conservé ici et suivra".to_owned()
        } else {
            format!("Les {rest} autres restent ici et suivront")
        };
        format!("{taken} animaux au plus sont ajoutés à la fois. {rest} dans l’aperçu suivant.")
    },
    lines_added: |added| {
        format!(
            "{} {}. Voici la suite.",
            animals(added),
            of_count(added, "ajouté", "ajoutés")
        )
    },
    on_line: |number, why| format!("Ligne {number}\u{a0}: {why}"),
    no_category: |number| {
        format!(
            "La catégorie {number} n’existe pas. Donnez-lui d’abord un nom sur la page Catégories, ou corrigez le numéro."
        )
    },
    no_choice: |typed, choices| {
        format!("«\u{a0}{typed}\u{a0}» n’est pas l’un des choix\u{a0}: {choices}.")
    },

    // Settings.
    make_link: "Créer un nouveau lien",
    revoke_effect: "Tout programme qui utilise cette clé sera refusé. Une clé révoquée ne peut plus être réactivée.",
    really: |verb, what| match what.strip_prefix("pour ") {
        Some(name) if verb == TEXTS.change_role => format!("{verb} {}\u{202f}?", de(name)),
        _ if verb == TEXTS.revoke_key => {
            format!("{verb} la clé «\u{a0}{what}\u{a0}»\u{202f}?")
        }
        _ => format!("{verb} {}\u{202f}?", called(what)),
    },
    disable_member: |name| {
        format!(
            "Toutes les sessions {} sont fermées immédiatement, et {name} ne peut plus se connecter.",
            de(name)
        )
    },
    change_role: "Changer le rôle",
    role_becomes: |name, old, new| {
        format!(
            "{name} passe du rôle «\u{a0}{}\u{a0}» au rôle «\u{a0}{}\u{a0}». {}.",
            role(old),
            role(new),
            what_role_may(new)
        )
    },
    reset_member: |name| {
        let of_name = de(name);
        format!(
            "Toutes les sessions {of_name} sont fermées immédiatement. Le mot de passe, la double authentification et les clés d’accès {of_name} ne sont plus valables. {name} choisit un nouveau mot de passe avec le lien."
        )
    },

    // Forms that several people fill in.
    now_changed: |label, now, was| {
        let was = was.map(|was| if was.is_empty() { "vide" } else { was });
        let it_was = was
            .map(|was| format!(" (avant\u{a0}: {was})"))
            .unwrap_or_default();
        format!(
            "{label}\u{a0}: maintenant {now}{it_was}. Rien n’est encore modifié. Vérifiez votre saisie, puis appuyez à nouveau sur le bouton."
        )
    },

    // Forms that outlived their session.
    form_of_another: "Ce formulaire a été rempli par quelqu’un d’autre",
    somebody: "Quelqu’un d’autre",
    form_of: |owner, you| {
        format!(
            "{owner} a rempli ce formulaire, mais la session ouverte est celle {}. Rien n’est encore modifié.",
            de(you)
        )
    },
    send_as: |you| format!("Envoyer en tant que {you}"),

    // After something was done.
    undo: "Revenir en arrière",
    not_undoable: "Cette modification ne peut pas être annulée.",
    show_order: "Voir le dossier",
    add_another: "Ajouter un animal semblable",
    reserved_as: |order| format!("Animal réservé (dossier {order})."),
    sold_as: |order| format!("Animal vendu (dossier {order})."),
    added_as: |animal| format!("Animal ajouté sous le numéro {animal}."),
    added_about: |animal| {
        format!(
            "Animal ajouté sous le numéro {animal}. Sa date de naissance est calculée d’après son âge."
        )
    },
    added_many: |count| {
        format!(
            "{} {}.",
            animals(count),
            of_count(count, "ajouté", "ajoutés")
        )
    },
    undone_many: |count| format!("La modification de {} est annulée.", animals(count)),
    changed_many: |count| {
        format!(
            "{} {}.",
            animals(count),
            of_count(count, "modifié", "modifiés")
        )
    },
    reservation_cancelled: "La réservation est annulée. L’animal est disponible.",
    sale_undone: "La vente est annulée.",
    taken_back: "Retour enregistré. L’animal est de nouveau disponible.",
    photo_was_removed: "Photo supprimée.",
    photo_was_turned: "Photo pivotée.",
    photo_is_back: "La photo est de retour.",
    reservation_extended: "L’échéance de la réservation est modifiée.",
    undone: "La modification est annulée.",
    saved: "Enregistré.",
    was_withdrawn: "Sortie enregistrée.",
    was_restored: "Sortie annulée.",
    was_deleted: "Supprimé.",
    webhook_disabled: "Plus rien ne lui est envoyé.",
    webhook_enabled: "Le webhook est activé.",
    webhook_tested: "Un message de test est en route. Rechargez la page dans un instant pour voir le résultat.",
    password_changed: "Votre mot de passe a été modifié. Vos autres sessions sont fermées.",
    session_ended: "La session est fermée.",
    second_factor_removed: "Votre double authentification est désactivée. Vos autres sessions sont fermées.",
    role_changed: "Le rôle a été modifié.",
    member_disabled: "Ce membre ne peut plus se connecter. Ses sessions sont fermées.",
    key_revoked: "La clé est révoquée.",

    // Pages for signing in and for managing accounts, staff and API keys; rejected requests; and open pages.

    // Signing in.
    sign_in: "Se connecter",
    password: "Mot de passe",
    code: "Code",
    continue_label: "Continuer",
    sign_in_wrong: "Le nom ou le mot de passe est incorrect. Vérifiez les deux, puis réessayez.",
    code_hint: "Les six chiffres affichés par votre application, ou l’un de vos codes de secours.",
    code_wrong: "Ce code est incorrect, ou a déjà servi. Attendez que l’application affiche le suivant.",
    sign_in_ended: "Connectez-vous à nouveau. La connexion a pris trop de temps, ou le code a été envoyé deux fois.",
    form_saved: "Saisissez votre mot de passe pour continuer. Votre saisie est conservée, et vous pourrez l’envoyer ensuite.",
    form_too_long: "Votre session est fermée, et votre texte est trop long pour être conservé ici. Connectez-vous dans un autre onglet, revenez en arrière dans celui-ci et renvoyez-le.",
    form_not_of_browser: "Ce formulaire a été conservé dans un autre navigateur, ou celui-ci a perdu ses cookies entre-temps. Il n’a donc pas été envoyé. Revenez à la page du formulaire, et envoyez-le à nouveau.",
    no_password: "Mot de passe oublié ou pas encore choisi\u{202f}? Un responsable peut vous donner un lien.",
    submit_saved_form_hint: "Vous êtes connecté. Envoyez maintenant votre saisie.",
    submit_saved_form: "Envoyer ma saisie",
    discard_saved_form: "Ne pas l’envoyer",
    changed_meanwhile: "Quelqu’un d’autre a fait une modification entre-temps\u{a0}: rien n’a donc été modifié cette fois. Rechargez la page et vérifiez l’état actuel.",

    // Signing in at a provider, whose host names it.
    provider: "Fournisseur",
    link_needed: "Votre connexion doit pour cela être récente. Vous vous êtes connecté avec un lien\u{a0}: demandez-en un nouveau à un responsable, ou déconnectez-vous puis reconnectez-vous.",
    no_passwords: "Il n’y a pas de mots de passe ici. Connectez-vous avec le bouton.",
    sign_in_elsewhere: "Cette connexion a duré plus de dix minutes, était déjà terminée ou a commencé dans un autre navigateur. Connectez-vous à nouveau.",
    access_disabled: "Un responsable a bloqué votre accès.",
    signed_in: "Vous êtes connecté",
    signed_in_hint: "Fermez cet onglet et continuez dans celui d’où vous venez.",
    signed_out_title: "Vous êtes déconnecté",
    role_of_provider: "Le rôle est fixé par le fournisseur avec lequel ce membre se connecte. Modifiez-le là-bas.",
    enter_once: "Se connecter une fois avec ce lien",
    sign_in_at: |host| format!("Se connecter avec {host}"),
    sign_in_in_new_tab: |host| {
        format!(
            "Connectez-vous avec {host} dans un nouvel onglet, puis revenez dans celui-ci. Votre saisie reste ici\u{202f}; envoyez-la ensuite."
        )
    },
    provider_unreachable: |host| {
        format!("{host} ne répond pas. Attendez une minute, puis réessayez.")
    },
    provider_invalid: |host| {
        format!(
            "La réponse de {host} n’a pas pu être acceptée. Réessayez. Si cela se reproduit, demandez à l’administrateur du serveur\u{a0}: la raison est dans le journal du service."
        )
    },
    sign_in_stopped: |host| format!("{host} a interrompu la connexion. Connectez-vous à nouveau."),
    no_role: |host| {
        format!(
            "{host} vous connaît, mais ne vous donne aucun rôle ici. Demandez à un responsable ou aux personnes qui gèrent vos comptes."
        )
    },
    identity_of_another: |host| {
        format!(
            "Ce lien appartient à un membre, et votre compte chez {host} à un autre. Déconnectez-vous de {host} et utilisez le compte qui correspond au lien."
        )
    },
    sign_out_at: |host| format!("Se déconnecter de {host}"),
    signed_out_hint: |host| format!("Vous êtes déconnecté ici, et maintenant aussi de {host}."),
    signs_in_at: |host| format!("se connecte avec {host}"),
    link_to_provider: |host| {
        format!(
            "Ou connectez-vous désormais avec {host}. Vous n’aurez alors pas besoin de mot de passe ici."
        )
    },
    enter_once_hint: |host| {
        format!(
            "Si vous ne pouvez pas vous connecter avec {host}, ce lien vous laisse entrer une fois."
        )
    },

    // Passwords and links.
    choose_password: "Choisir un mot de passe",
    new_password: "Nouveau mot de passe",
    new_password_again: "Confirmer le nouveau mot de passe",
    new_password_hint: "Au moins 12 caractères, par exemple quatre mots au hasard. Vous pouvez coller le mot de passe.",
    passwords_different: "Les deux mots de passe sont différents. Saisissez deux fois le même.",
    save_password: "Enregistrer et se connecter",
    link_invalid: "Ce lien n’est pas valable",
    link_invalid_hint: "Il a déjà servi, date de plus de 24 heures ou a été remplacé par un plus récent. Si vous avez choisi un mot de passe, connectez-vous avec celui-ci. Sinon, demandez un autre lien à un responsable.",

    // Account.
    account: "Votre compte",
    current_password: "Mot de passe actuel",
    change_password: "Changer le mot de passe",
    current_password_wrong: "Le mot de passe actuel est incorrect. Saisissez celui avec lequel vous vous connectez actuellement.",
    sessions: "Sessions",
    only_last_sessions: "Seules les 100 dernières sessions utilisées sont affichées.",
    language_label: "Langue",
    language_of_store: |name| format!("Comme l’établissement ({name})"),
    own_sessions: "Vos sessions ouvertes",
    browser_label: "Navigateur",
    ip_address: "Adresse IP",
    last_used: "Dernière utilisation",
    this_session: " (session actuelle)",
    browser_on: |browser, system| format!("{browser} sur {system}"),
    end_session: "Fermer",

    // The second factor.
    second_factor: "Double authentification",
    second_factor_off: "Protégez votre compte avec une application qui affiche un code sur votre téléphone.",
    second_factor_required: "Votre rôle exige la double authentification. Configurez-la pour continuer.",
    second_factor_stays: "Votre rôle exige la double authentification\u{a0}: vous ne pouvez pas la désactiver. Vous pouvez configurer une autre application.",
    second_factor_set: "Votre double authentification est configurée. Vos autres sessions sont fermées.",
    set_up: "Configurer la double authentification",
    change_second_factor: "Modifier la double authentification",
    remove_second_factor: "Désactiver la double authentification",
    without_second_factor: "Sans double authentification",
    set_up_app: "Configurer une application",
    open_app: "Ouvrez une application d’authentification sur votre téléphone.",
    scan: "Scannez cette image, ou saisissez la clé de configuration à la main.",
    qr_code: "QR code avec la clé de configuration",
    app_code: "Code affiché par l’application",
    use_app: "Utiliser cette application",
    app_code_wrong: "Le code est incorrect. Vérifiez l’heure du téléphone, puis saisissez le code que l’application affiche maintenant.",
    recovery_codes: "Codes de secours",
    new_codes_hint: "Créez de nouveaux codes de secours si vous en avez utilisé ou perdu. Les anciens ne seront plus valables.",
    new_codes: "Créer de nouveaux codes",
    codes_replaced: "Ces codes remplacent les anciens. Vos autres sessions sont fermées.",
    codes_hint: "Gardez ces codes de secours à un endroit où vous les trouverez sans votre téléphone, par exemple sur papier. Chacun permet une seule connexion. Ils ne seront plus affichés.",
    codes_kept: "Je les ai conservés",

    // Passkeys.
    passkey: "Clé d’accès",
    passkeys: "Clés d’accès",
    passkeys_short: "Connectez-vous avec votre empreinte, votre visage ou un code PIN, sans mot de passe.",
    change_passkeys: "Gérer les clés d’accès",
    passkeys_hint: "Une clé d’accès se trouve sur votre téléphone, votre ordinateur ou une clé de sécurité, et demande votre empreinte, votre visage ou un code PIN. Elle vous connecte sans mot de passe. Dès que vous en avez une, le mot de passe ne suffit plus\u{a0}: il faut ensuite la clé d’accès, ou un code de votre application. Ajoutez-en une deuxième sur un autre appareil. Si vous les perdez toutes, un responsable peut vous donner un nouveau lien.",
    passkey_name: "Nom de la clé d’accès",
    passkey_name_invalid: "Le nom doit être une ligne de 1 à 60 caractères.",
    add_passkey: "Ajouter une clé d’accès",
    passkeys_full: "Vous avez 10 clés d’accès, c’est le maximum. Supprimez-en une avant d’en ajouter une autre.",
    passkeys_elsewhere: "Les clés d’accès ne sont pas configurées à cette adresse. Demandez à l’administrateur du serveur.",
    sign_in_with_passkey: "Utiliser une clé d’accès",
    passkey_needed: "Votre mot de passe est correct. Utilisez maintenant votre clé d’accès. Si vous l’avez perdue, demandez un nouveau lien à un responsable.",
    passkey_script: "Les clés d’accès exigent JavaScript, que ce navigateur n’exécute pas.",
    passkey_unsupported: "Ce navigateur est trop ancien pour les clés d’accès. Mettez-le à jour, ou prenez-en un autre.",
    passkey_stopped: "Aucune clé d’accès n’a été utilisée\u{a0}: la fenêtre du navigateur a été fermée, le délai est dépassé, ou cet appareil n’en a pas pour ce site. Réessayez.",
    passkey_known: "Cet appareil a déjà une clé d’accès pour votre compte.",
    passkey_late: "Cela a pris plus de cinq minutes, a déjà été envoyé ou a commencé dans un autre onglet. Réessayez.",
    passkey_rejected: "Cette clé d’accès ne fonctionne pas ici. Elle a été supprimée, ou elle est celle d’un autre site. Connectez-vous autrement.",
    passkey_of_another: "C’est la clé d’accès d’un autre membre. Utilisez l’une des vôtres.",
    passkey_unusable: "Cette clé d’accès ne peut pas être ajoutée. Elle doit vérifier une empreinte, un visage ou un code PIN, et être nouvelle. Essayez avec un autre appareil.",
    passkey_added: "La clé d’accès est ajoutée. Vos autres sessions sont fermées.",
    passkey_removed: "La clé d’accès est supprimée. Vos autres sessions sont fermées.",
    passkey_count: "Compteur de la clé d’accès",

    // Staff.
    staff: "Équipe",
    role_label: "Rôle",
    state: "État",
    you: "vous",
    add_member: "Ajouter un membre",
    password_again: "Votre mot de passe est à nouveau nécessaire, car la dernière saisie date de plus de cinq minutes. \
     Votre saisie est conservée, et vous pourrez l’envoyer ensuite.",
    add_member_button: "Ajouter et créer un lien",
    member_name_hint: "Le membre se connecte avec ce nom.",
    member_name_invalid: "Le nom doit tenir sur une ligne de 1 à 64 caractères.",
    member_name_taken: "Un membre porte déjà ce nom. Choisissez-en un autre.",
    too_many_members: "Il y a déjà 1\u{202f}000 membres. Il n’est pas possible d’en ajouter.",
    own_access: "Vous ne pouvez pas modifier votre propre rôle ni votre propre accès. Demandez à un autre responsable.",
    new_link: "Nouveau lien de connexion",
    disabled_state: "bloqué",
    active: "actif",
    active_with_second_factor: "actif, avec double authentification",
    has_link: "lien en attente",
    link_expired: "lien expiré",
    link: "Lien pour choisir un mot de passe",
    copy: "Copier",
    copied: "Copié",
    secret_kept: "Terminé",

    // API keys.
    keys: "Clés d’API",
    add_key: "Créer une clé",
    key_name_hint: "Le programme ou la personne qui utilise la clé, par exemple site-web.",
    key_name_invalid: "Le nom doit tenir sur une ligne de 1 à 255 caractères.",
    allows: "Droits",
    what_key_allows: "Droits de la clé",
    never: "jamais",
    called_get_pet: "appelle encore getPet\u{a0}: ",
    revoked: "révoquée ",
    expired: "expirée ",
    valid_until: "valable jusqu’au ",
    valid: "valable",
    rotate_key: "Renouveler",
    revoke_key: "Révoquer",
    key_not_rotated: "Cette clé a déjà été renouvelée ou révoquée, ou a expiré.",
    new_key: "Nouvelle clé d’API",
    new_key_hint: "Copiez la clé maintenant dans les paramètres du programme. Elle ne sera plus affichée.",

    // Requests that are rejected.
    incomplete_form: "Ce formulaire est incomplet. Rechargez la page, puis renvoyez-le.",
    body_too_large: "Ce que vous avez envoyé est trop volumineux pour le service.",
    not_accepted: "Le service n’a pas accepté la demande.",
    not_allowed: "Votre rôle ne donne pas accès à cette page.",
    foreign_host: |host, expected| {
        let remedy = match expected {
            "" => "Demandez son adresse à l’administrateur du serveur.".to_owned(),
            expected => format!(
                "Ouvrez-la à l’adresse {expected}. Si vous l’avez fait, demandez à l’administrateur du serveur\u{a0}: le journal du service dit ce qu’il faut corriger."
            ),
        };
        format!("La console n’est pas à l’adresse {host:.255}. {remedy}")
    },
    needs_https: "La console exige HTTPS, car un mot de passe ne doit pas être transmis en clair. Ouvrez-la avec https://, ou sur la machine où elle fonctionne.",
    foreign_form: "Ce formulaire a été envoyé par un autre site, et n’a donc pas été exécuté. Ouvrez la console et envoyez-le de là.",
    foreign_origin: |origin, own| {
        format!(
            "Ce formulaire a été envoyé par {origin:.255}, mais la requête s’adresse à {own:.255}. Il n’a donc pas été exécuté. Ouvrez la console et envoyez-le de là. Si {origin:.255} est la console, demandez à l’administrateur du serveur\u{a0}: le journal du service dit ce qu’il faut corriger."
        )
    },
    connection_replaced: "Trop de connexions sont ouvertes. Patientez un instant, puis rechargez la page.",
    to_first_page: "Aller à la page «\u{a0}Aujourd’hui\u{a0}»",
    request: "Référence de l’erreur\u{a0}: ",

    // Open pages.
    page_changed: "Quelqu’un a modifié le contenu de cette page. Elle reste telle quelle tant que vous l’utilisez.",
    offline: "Pas de connexion\u{a0}: rien n’a été envoyé. Votre saisie est conservée\u{202f}; réessayez dès que la connexion est rétablie.",
    connection_lost: "La connexion au service est perdue. Cette page n’est peut-être plus à jour.",
    signed_out: "Votre session est fermée\u{a0}: cette page n’est peut-être plus à jour. Connectez-vous dans un autre onglet, ou rechargez-la.",
    show_change: "1 modification – l’afficher",
    show_changes: "{} modifications – les afficher",
    reload: "Recharger la page",
    more_follow: "Il y a d’autres entrées à la page suivante.",
    not_in_text: "Le caractère de contrôle U+0000 n’est pas autorisé. Saisissez le texte au lieu de le coller.",
    newest_first: "Derniers arrivés d’abord",
    by_name: "Par nom",
    by_price: |price| format!("Par {}", price.to_lowercase()),
    youngest_first: "Les plus jeunes d’abord",
    too_many_to_sort: |most| {
        format!(
            "Seules les listes d’au plus {most} animaux peuvent être triées. Choisissez d’abord un filtre, par exemple une espèce."
        )
    },
    stay: "Durée du séjour",
    longest_first: "Présents depuis le plus longtemps",
    too_many_attempts: |minutes| {
        let unit = if minutes < 2 { "minute" } else { "minutes" };
        format!(
            "Il y a eu trop de tentatives de connexion. Attendez {minutes} {unit}, ou demandez un lien à un responsable."
        )
    },
    weak: |weak| {
        match weak {
        WeakPassword::Short => {
            format!("Le mot de passe doit avoir au moins {} caractères.", Password::MIN_LENGTH)
        }
        WeakPassword::Long => {
            format!("Le mot de passe doit avoir au plus {} caractères.", Password::MAX_LENGTH)
        }
        WeakPassword::Common => {
            "Ce mot de passe est facile à deviner\u{a0}: il est courant, répète un caractère ou se compose presque uniquement de mots courants ou d’un nom. Choisissez-en un autre, par exemple quatre mots au hasard."
                .to_owned()
        }
    }
    },
    welcome: |name| {
        html! {
            "Bienvenue, " bdi { (name) } ". Choisissez le mot de passe avec lequel vous vous connecterez."
        }
    },
    you_are: |name, of| html! { "Compte connecté\u{a0}: " bdi { (name) } " (" (role(of)) ")" },
    second_factor_on: |recovery_codes| {
        let left = match recovery_codes {
            0 => "Il ne vous reste aucun code de secours".to_owned(),
            1 => "Il vous reste 1 code de secours".to_owned(),
            count => format!("Il vous reste {count} codes de secours"),
        };
        format!("Votre application est nécessaire pour vous connecter. {left}.")
    },
    session_in: |browser| format!(" la session dans {browser}"),
    for_member: |name| format!(" pour {name}"),
    role_of: |name| format!("Rôle {}", de(name)),
    give_link: |name| {
        html! {
            "Donnez ce lien à " bdi { (name) } ", et à personne d’autre. Il est valable 24 heures et ne "
            "sera plus affiché."
        }
    },
    role,
    what_role_may,
    scope: |scope| match scope {
        Scope::Read => "Consulter les animaux (nom, catégorie et statut seulement)",
        Scope::Write => "Consulter et ajouter des animaux (nom, catégorie et statut seulement)",
        Scope::StoreRead => {
            "Consulter les animaux et les dossiers (sans les coordonnées des clients)"
        }
        Scope::StoreWrite => {
            "Consulter et modifier les animaux et les dossiers (avec les coordonnées des clients)"
        }
        Scope::StoreAdmin => {
            "Tout, y compris les champs, les webhooks, l’activité et les informations sur l’établissement"
        }
    },
    problem: |problem| match problem {
        Problem::NotFound | Problem::OperationRemoved => (
            TEXTS.not_found,
            Some("Cette page n’existe pas."),
            "Vérifiez l’adresse, ou allez à la page «\u{a0}Aujourd’hui\u{a0}».",
        ),
        Problem::Internal => (
            "Une erreur s’est produite",
            Some("C’est une erreur du service. Votre saisie n’est pas en cause."),
            "Réessayez. Si cela se reproduit, communiquez la référence ci-dessous à l’administrateur du serveur.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "Le service est occupé",
            Some(
                "Le service n’a pas pu terminer la requête. Une modification a peut-être été faite, ou non.",
            ),
            "Patientez un instant, puis rechargez la page. Un même formulaire n’est jamais exécuté deux fois.",
        ),
        Problem::StorageFull => (
            "Le disque est plein",
            Some(
                "Le service ne peut rien enregistrer, car le disque de son serveur est plein. Rien n’a été modifié.",
            ),
            "Demandez à l’administrateur du serveur de faire de la place. Revenez ensuite en arrière, puis renvoyez le formulaire.",
        ),
        Problem::BodyTooLarge => (
            "Trop de texte",
            None,
            "Revenez en arrière, et envoyez-le en plusieurs parties.",
        ),
        Problem::InsufficientScope => (
            "Non autorisé",
            None,
            "Revenez en arrière, ou demandez à un responsable.",
        ),
        _ => (
            "Cela n’a pas fonctionné",
            None,
            "Revenez en arrière, et vérifiez ce que vous avez envoyé.",
        ),
    },

    // The store.
    logo: "Logo",
    upload_logo: "Image du logo",
    logo_hint: "Un PNG, JPEG ou WebP de 2 Mo au plus. Si vous avez modifié le formulaire ci-dessus, enregistrez-le d’abord\u{a0}: l’envoi du logo n’enregistre pas ces modifications.",
    logo_missing: "Choisissez d’abord une image.",
    logo_invalid: "Le logo doit être une image PNG, JPEG ou WebP. Choisissez un autre fichier.",
    logo_too_flat: "Le logo doit avoir au moins 16 pixels de large et de haut, être au plus 12 fois plus large que haut et au plus 3 fois plus haut que large. Choisissez une autre image.",
    picture_problem: |problem| {
        match problem {
        PictureProblem::NoPicture | PictureProblem::OtherFormat { .. } => TEXTS.no_picture.to_owned(),
        PictureProblem::Truncated { .. } => "L’image n’est pas complète\u{a0}: il manque la fin. Choisissez le fichier entier.".to_owned(),
        PictureProblem::OtherData { .. } => "D’autres données suivent l’image. Enregistrez-la à nouveau avec un autre programme.".to_owned(),
        PictureProblem::Unreadable => "L’image est endommagée et ne peut pas être lue. Enregistrez-la à nouveau avec un autre programme.".to_owned(),
        PictureProblem::Metadata { length, most } => {
            let [length, most] = [length, most].map(in_digits);
            format!("L’image contient {length} octets d’autres données, et {most} au plus sont permis. Retirez-les, ou enregistrez l’image à nouveau avec un autre programme.")
        }
        PictureProblem::ManyPictures { most } => {
            let most = in_digits(most);
            format!("Le fichier contient plus de {most} images. Choisissez un fichier qui n’en a qu’une.")
        }
        PictureProblem::Pixels { width, height, most, most_of_side } => {
            let most = in_digits(most);
            format!("L’image a {width} × {height} pixels. Au plus {most} sont permis en tout, et {most_of_side} par côté. Choisissez-en une plus petite.")
        }
        PictureProblem::PixelsOfKind { width, height, most, format } => {
            let most = in_digits(most);
            format!("L’image a {width} × {height} pixels, et une image {format} de ce type peut en avoir {most}. Choisissez-en une plus petite, ou un JPEG qui n’est pas progressif.")
        }
        PictureProblem::Memory => "L’image demande trop de mémoire. Choisissez-en une avec moins de pixels.".to_owned(),
        PictureProblem::Time => "La lecture de l’image prend trop de temps. Choisissez-en une plus petite.".to_owned(),
        PictureProblem::FlatLogo => TEXTS.logo_too_flat.to_owned(),
    }
    },
    remove_logo: "Supprimer le logo",
    logo_removed_effect: "Il disparaît de toutes les pages. Pour l’afficher à nouveau, renvoyez-le.",
    as_shown: "Ce que tout le monde voit",
    see_website: "Voir le site",
    operator_value: |value| {
        format!(
            "Si le champ est vide, le réglage de l’administrateur du serveur s’applique\u{a0}: {value}."
        )
    },
    no_currency: "Si le champ est vide, les montants sont affichés sans devise.",
    nameless: |console, website| {
        format!(
            "Si le champ est vide, la console affiche «\u{a0}{console}\u{a0}» et le site «\u{a0}{website}\u{a0}»."
        )
    },
    default_is: |value| {
        format!("Si le champ est vide, la valeur par défaut s’applique\u{a0}: {value}.")
    },
    store: "Établissement",
    change_store: "Modifier les informations sur l’établissement",
    store_hint: "Les visiteurs voient ces informations sur le site\u{202f}; l’équipe les voit ici et sur les documents imprimés. Rien n’est obligatoire.",
    who_you_are: "Qui vous êtes",
    how_to_reach_you: "Comment vous joindre",
    pages_heading: "Langue et apparence",
    paper_heading: "Sur papier",
    links: "Liens",
    links_hint: "Au bas de chaque page publique\u{a0}: mentions légales, confidentialité, comment adopter un animal…",
    more_links: "Autres liens",
    not_chosen: "Non précisé",
    store_stale: "Quelqu’un d’autre a modifié ces informations en même temps. Vérifiez ce qu’elles sont maintenant, puis enregistrez de nouveau.",
    link_label_invalid: "Un lien doit avoir un texte de 1 à 60 caractères. Saisissez-le, ou videz les deux champs du lien.",
    link_url_invalid: "L’adresse d’un lien doit commencer par https://, sans espace, sans nom d’utilisateur devant un @ et avec 500 caractères au plus. Corrigez-la, ou videz les deux champs du lien.",
    several_urls: "Ce champ contient plusieurs adresses. Saisissez chaque lien dans ses propres champs.",
    pick_colour: "Choisir une couleur",
    link_label: |number| format!("Texte du lien {number}"),
    link_url: |number| format!("Adresse du lien {number}"),
    member_name: [
        "Nom",
        "Il figure en haut de chaque page.",
        "Le nom doit avoir 120 caractères au plus. Raccourcissez-le, ou laissez-le vide.",
    ],
    member_kind: [
        "Type",
        "Ce choix détermine les mots employés\u{a0}: «\u{a0}adopté\u{a0}» et «\u{a0}frais d’adoption\u{a0}» pour un refuge, «\u{a0}vendu\u{a0}» et «\u{a0}prix\u{a0}» pour une animalerie.",
        "Le type doit être une animalerie ou un refuge. Choisissez l’un des deux, ou aucun.",
    ],
    member_about: [
        "À propos",
        "Quelques phrases pour la page d’accueil de votre site, 2\u{202f}000 caractères au plus.",
        "Le texte de présentation doit avoir 2\u{202f}000 caractères au plus. Raccourcissez-le, ou laissez-le vide.",
    ],
    member_contract: [
        "Contrat",
        "Imprimé avec le dossier, au-dessus des signatures. Il n’apparaît pas sur le site. Le programme remplace {animal} par le nom de l’animal, {store} par le nom de l’établissement, {microchip} par le numéro de puce de l’animal, {fee} par le prix, {adopter} par le nom du client et {date} par la date de la vente ou, à défaut, celle du jour. Une valeur qui manque laisse une ligne à remplir. Une ligne vide sépare deux paragraphes\u{202f}; 4\u{202f}000 caractères au plus.",
        "Le contrat doit avoir 4\u{202f}000 caractères au plus. Raccourcissez-le, ou laissez-le vide.",
    ],
    member_email: [
        "E-mail",
        "",
        "L’adresse e-mail doit avoir la forme nom@example.org, sans espace et avec 254 caractères au plus. Corrigez-la, ou laissez-la vide.",
    ],
    member_telephone: [
        "Téléphone",
        "",
        "Le numéro de téléphone doit avoir de 3 à 40 caractères, dont au moins 3 chiffres\u{202f}; sont permis les chiffres, les espaces et + - ( ) / . Corrigez-le, ou laissez-le vide.",
    ],
    member_contact_page: [
        "Page de contact",
        "L’adresse d’une page avec votre formulaire de contact. Elle commence par https://. Mettez {id} là où doit figurer le numéro de l’animal.",
        "La page de contact doit être une adresse qui commence par https://, sans espace, sans nom d’utilisateur devant un @, sans {id} dans le nom du serveur et avec 500 caractères au plus. Corrigez-la, ou laissez-la vide.",
    ],
    member_address: [
        "Adresse",
        "Ligne par ligne, comme sur une enveloppe, 500 caractères au plus.",
        "L’adresse doit avoir 500 caractères au plus. Raccourcissez-la, ou laissez-la vide.",
    ],
    member_hours: [
        "Horaires d’ouverture",
        "Ligne par ligne, comme sur votre porte, 500 caractères au plus.",
        "Les horaires doivent avoir 500 caractères au plus. Raccourcissez-les, ou laissez-les vides.",
    ],
    member_language: [
        "Langue",
        "",
        "La langue doit être l’une de celles de la liste. Choisissez-en une, ou aucune.",
    ],
    member_time_zone: [
        "Fuseau horaire",
        "Ce fuseau horaire fixe le début de chaque journée\u{a0}: page «\u{a0}Aujourd’hui\u{a0}», âges, échéances des réservations et site. Si vous n’en choisissez pas, chaque appareil affiche les heures dans son propre fuseau, et les journées commencent à minuit en temps universel (UTC).",
        "Le fuseau horaire doit être l’un de ceux de la liste. Choisissez-en un, ou aucun.",
    ],
    member_currency: [
        "Devise",
        "Par exemple EUR, €, GBP, USD ou CHF.",
        "Cette devise n’est pas reconnue ou n’est pas claire. Saisissez trois lettres, par exemple EUR, ou un symbole propre à une seule devise, par exemple €. Vous pouvez aussi laisser le champ vide.",
    ],
    member_colour: [
        "Couleur",
        "La couleur des boutons et des liens du site\u{a0}: choisissez-la ci-dessous, ou saisissez son nom, comme vert, ou son code, comme #2f6f4f.",
        "Cette couleur n’est pas reconnue. Choisissez-en une ci-dessous, ou saisissez un nom comme vert, ou # suivi de six chiffres ou lettres de a à f. Vous pouvez aussi laisser le champ vide.",
    ],
    zone_of_device: "Cet appareil",
    zone_regions: [
        "Afrique",
        "Amérique",
        "Antarctique",
        "Arctique",
        "Asie",
        "Atlantique",
        "Australie",
        "Europe",
        "Océan Indien",
        "Pacifique",
    ],
    store_kind: |kind| match kind {
        StoreKind::Shop => "Animalerie",
        StoreKind::Shelter => "Refuge",
    },

    // Moments in words.
    just_now: "à l’instant",
    tomorrow: "demain",
    yesterday: "hier",
    ago: |count, unit| format!("il y a {}", span(count, unit)),
    ahead: |count, unit| format!("dans {}", span(count, unit)),
    soon: "dans moins d’une minute",
    doubted_clock: |now, confirmed, hours| {
        format!(
            "L’horloge du serveur indique {now}, mais la dernière heure confirmée est {confirmed}. Aucune réservation ne se termine tant que ce n’est pas réglé. Prévenez l’administrateur du serveur\u{a0}: il faut corriger l’horloge ou, si elle est juste, exécuter «\u{a0}petstore clock confirm\u{a0}». Si l’horloge avance régulièrement, elle sera considérée comme juste dans {hours}\u{a0}h."
        )
    },
    shelter_fields: "Champs supplémentaires pour un refuge",
    shelter_fields_hint: "Un clic ajoute ces champs. Ils sont vides au départ\u{202f}; rien d’autre ne change dans les fiches des animaux.",
    add_shelter_fields: "Ajouter ces champs",
    by_place: |place| format!("Par {}", place.to_lowercase()),
    store_labels: "Libellés des champs dans la langue de l’établissement",
    store_labels_hint: "Les libellés déjà personnalisés restent tels quels. Les fiches des animaux ne sont pas modifiées.",
    labels_with_language: "Mettre aussi les libellés des champs («\u{a0}Espèce\u{a0}», «\u{a0}Sexe\u{a0}»…) dans cette langue",
    write_labels: "Appliquer ces libellés",
    no_backup: "Il n’y a pas encore de sauvegarde. Demandez à l’administrateur du serveur d’activer les sauvegardes.",
    old_backup: |at| {
        format!(
            "La dernière sauvegarde date du {at}. Prévenez l’administrateur du serveur\u{a0}: le journal du service dit pourquoi il n’y en a pas de plus récente."
        )
    },
};

/// The name of an animal within a sentence.
fn called(animal: &str) -> &str {
    if animal == TEXTS.no_name {
        "cet animal"
    } else {
        animal
    }
}

/// French has the singular for 0 and 1.
fn of_count<'t>(count: usize, one: &'t str, several: &'t str) -> &'t str {
    if count < 2 { one } else { several }
}

fn status(status: PetStatus) -> &'static str {
    match status {
        PetStatus::Available => "Disponible",
        PetStatus::Pending => "Réservé",
        PetStatus::Sold => "Vendu",
    }
}

fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "Réservé",
        OrderStatus::Completed => "Vendu",
        OrderStatus::Cancelled => "Annulé",
        OrderStatus::Expired => "Expiré",
        OrderStatus::Returned => "Rendu",
    }
}

fn reason(reason: WithdrawalReason) -> &'static str {
    match reason {
        WithdrawalReason::Died => "Décès",
        WithdrawalReason::Transferred => "Transfert vers une autre animalerie ou un autre refuge",
        WithdrawalReason::Reclaimed => "Restitution au propriétaire",
        WithdrawalReason::Mistake => "Ajout par erreur",
        WithdrawalReason::Other => "Autre motif",
    }
}

fn change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Ajouté",
        ChangeType::PetChanged => "Modifié",
        ChangeType::PetWithdrawn => "Sortie enregistrée",
        ChangeType::PetRestored => "Sortie annulée",
        ChangeType::OrderPlaced => "Réservé",
        ChangeType::OrderChanged => "Dossier modifié",
        ChangeType::OrderCompleted => "Vendu",
        ChangeType::OrderCancelled => "Réservation annulée",
        ChangeType::OrderExpired => "Réservation expirée",
        ChangeType::OrderReturned => "Rendu",
        ChangeType::OrderReopened => "Réservé à nouveau",
        ChangeType::CategoryChanged => "Catégorie ajoutée ou renommée",
        ChangeType::CategoryDeleted => "Catégorie supprimée",
        ChangeType::NoteAdded => "Note ajoutée",
        ChangeType::NoteChanged => "Note corrigée",
        ChangeType::NoteDeleted => "Note supprimée",
        ChangeType::PetsImported => "Importé",
    }
}

fn animals(count: usize) -> String {
    format!(
        "{} {}",
        in_digits(count),
        of_count(count, "animal", "animaux")
    )
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Available => "L’animal est disponible.".to_owned(),
        PetStatus::Pending => "L’animal est déjà réservé.".to_owned(),
        PetStatus::Sold => "L’animal est déjà vendu.".to_owned(),
    }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Animal ajouté",
        ChangeType::PetChanged => "Animal modifié",
        ChangeType::PetsImported => "Animaux importés",
        ChangeType::OrderPlaced => "Animal réservé",
        ChangeType::OrderCompleted => "Animal vendu",
        ChangeType::OrderReturned => "Animal rendu",
        ChangeType::OrderReopened => "Dossier rouvert",
        other => change(other),
    }
}

fn days(count: u64) -> String {
    if count < 2 {
        format!("{count} jour")
    } else {
        format!("{count} jours")
    }
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Vendu par erreur\u{202f}? Repasser en «\u{a0}Réservé\u{a0}»",
        OrderStatus::Cancelled => "Annulé par erreur\u{202f}? Repasser en «\u{a0}Réservé\u{a0}»",
        _ => "Repasser en «\u{a0}Réservé\u{a0}»",
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    let is = match status {
        OrderStatus::Reserved => "est encore une réservation",
        OrderStatus::Completed => "est déjà une vente, et l’animal a été modifié depuis",
        OrderStatus::Cancelled => "est déjà annulé",
        OrderStatus::Expired => "a expiré",
        OrderStatus::Returned => "est clos\u{a0}: l’animal a déjà été rendu",
    };
    format!("Le dossier {id} {is}. Rien n’a été modifié cette fois.")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "consultation",
        Role::Clerk => "modification",
        Role::Manager => "responsable",
    }
}

fn what_role_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Consultation\u{a0}: ne peut rien modifier",
        Role::Clerk => "Modification\u{a0}: peut modifier les animaux et les dossiers",
        Role::Manager => {
            "Responsable\u{a0}: modifie aussi tous les paramètres, dont l’équipe et les clés d’API, et voit l’activité"
        }
    }
}

fn span(count: i64, unit: Unit) -> String {
    let unit = match unit {
        Unit::Minute => "minute",
        Unit::Hour => "heure",
        Unit::Day => "jour",
    };
    format!("{count} {unit}{}", if count < 2 { "" } else { "s" })
}

fn more_than(count: usize) -> String {
    format!("Plus de {}", animals(count))
}

/// The French texts of the pages for the staff that a shelter has in other words than a shop.
pub(crate) mod shelter {
    use super::{animals, days, of_count};
    use crate::console::Texts;
    use petstore_domain::{
        PetStatus, Scope,
        store_area::{ActType, ChangeType, OrderStatus, SubjectKind, WithdrawalReason},
    };

    pub(crate) static TEXTS: Texts = Texts {
        reference_hint: "Votre propre numéro, par exemple celui du contrat ou du reçu. Pas le nom de l’adoptant.",
        sold_at: "Adoption",
        sold_today: "Adoptés aujourd’hui",
        all_sales: "Toutes les adoptions",
        sell_more: "Marquer comme adopté…",
        sell: "Marquer comme adopté",
        sell_now: "Marquer comme adopté",
        take_back_hint: "L’adoptant rend l’animal, qui redevient disponible.",
        sold_without_order: "L’animal a été marqué comme adopté sans dossier. Pour corriger cela, modifiez son statut.",
        pending_without_order: "L’animal a été marqué comme réservé sans dossier\u{a0}: la réservation n’a donc pas d’échéance. Réservez-le ici pour en fixer une, enregistrez son adoption ou modifiez son statut.",
        find_order: "Rechercher un dossier par adoptant, téléphone, animal, référence ou numéro",
        no_orders_hint: "Ouvrez un animal pour le réserver ou enregistrer son adoption.",
        signature: "Signature de l’adoptant",
        signature_of_store: "Signature pour le refuge",
        contract_heading: "Contrat d’adoption",
        store: "Refuge",
        change_store: "Modifier les informations sur le refuge",
        store_labels: "Libellés des champs dans la langue du refuge",
        language_of_store: |name| format!("Comme le refuge ({name})"),
        status_invalid: "Le statut doit être disponible, réservé ou adopté.",
        member_contract: [
            super::TEXTS.member_contract[0],
            "Imprimé avec le dossier, au-dessus des signatures. Il n’apparaît pas sur le site. Le programme remplace {animal} par le nom de l’animal, {store} par le nom du refuge, {microchip} par le numéro de puce de l’animal, {fee} par les frais d’adoption, {adopter} par le nom de l’adoptant et {date} par la date de l’adoption ou, à défaut, celle du jour. Une valeur qui manque laisse une ligne à remplir. Une ligne vide sépare deux paragraphes\u{202f}; 4\u{202f}000 caractères au plus.",
            super::TEXTS.member_contract[2],
        ],
        act: |kind| match kind {
            ActType::ProfileChanged => "Informations sur le refuge modifiées",
            other => super::TEXTS.act(other),
        },
        subject: |kind| match kind {
            SubjectKind::Profile => "Refuge",
            other => super::TEXTS.subject(other),
        },
        withdraw_animals: |count, why| {
            format!(
                "Enregistrer la sortie de {} ({})\u{202f}?",
                animals(count),
                reason(why).to_lowercase()
            )
        },
        reason,
        scope: |scope| match scope {
            Scope::StoreRead => {
                "Consulter les animaux et les dossiers (sans les coordonnées des adoptants)"
            }
            Scope::StoreWrite => {
                "Consulter et modifier les animaux et les dossiers (avec les coordonnées des adoptants)"
            }
            Scope::StoreAdmin => {
                "Tout, y compris les champs, les webhooks, l’activité et les informations sur le refuge"
            }
            other => super::TEXTS.scope(other),
        },
        longest_first: "Les plus anciens au refuge d’abord",
        any_status: "Au refuge",
        also_sold: "Au refuge ou adopté",
        add_sold: "Inclure les adoptés",
        reserve_or_sell: "Réserver ou marquer comme adopté…",
        price: "Frais d’adoption",
        contact: "Adoptant",
        contact_of: |_| TEXTS.contact,
        contact_changed: "Adoptant modifié ou supprimé",
        price_of_each: "Frais d’adoption par animal (laissez vide pour garder ceux de chaque fiche)",
        status: |status| {
            if status == PetStatus::Sold {
                "Adopté"
            } else {
                super::status(status)
            }
        },
        order_status: |status| {
            if status == OrderStatus::Completed {
                "Adopté"
            } else {
                super::order_status(status)
            }
        },
        change: |kind| {
            if kind == ChangeType::OrderCompleted {
                "Adopté"
            } else {
                super::change(kind)
            }
        },
        audited_change: |kind| match kind {
            ChangeType::OrderCompleted => "Animal adopté",
            other => super::audited_change(other),
        },
        is_in_status: |status| match status {
            PetStatus::Sold => "L’animal est déjà adopté.".to_owned(),
            other => super::is_in_status(other),
        },
        contact_hint: |kept| {
            format!(
                "Par exemple un nom et un numéro de téléphone. Ces coordonnées sont supprimées {} après l’adoption ou la fin de la réservation.",
                days(kept)
            )
        },
        no_order_found_hint: |kept| {
            format!(
                "Vérifiez l’orthographe. Les coordonnées de l’adoptant d’un dossier clos sont conservées pendant {}.",
                days(kept)
            )
        },
        sum_of: |status, count, sum| {
            let what = match status {
                OrderStatus::Completed => of_count(count, "adoption", "adoptions"),
                _ => of_count(count, "réservation", "réservations"),
            };
            format!("{count} {what} avec frais indiqués, {sum} au total")
        },
        reopen: |status| match status {
            OrderStatus::Completed => {
                "Marqué comme adopté par erreur\u{202f}? Repasser en «\u{a0}Réservé\u{a0}»"
            }
            other => super::reopen(other),
        },
        order_is: |id, status| match status {
            OrderStatus::Completed => format!(
                "Le dossier {id} est déjà une adoption, et l’animal a été modifié depuis. Rien n’a été modifié cette fois."
            ),
            other => super::order_is(id, other),
        },
        sell_animals: |count| {
            format!(
                "Marquer {} comme {}\u{202f}?",
                animals(count),
                of_count(count, "adopté", "adoptés")
            )
        },
        sold_as: |order| format!("Animal adopté (dossier {order})."),
        sale_undone: "L’adoption est annulée.",
        ..super::TEXTS
    };

    fn reason(reason: WithdrawalReason) -> &'static str {
        match reason {
            WithdrawalReason::Transferred => "Transfert vers un autre refuge",
            other => super::reason(other),
        }
    }
}
