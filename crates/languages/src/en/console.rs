//! The English texts of the pages for the staff.

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

use crate::{console::Texts, declaration::Unit, en::window::in_digits};

pub(crate) static TEXTS: Texts = Texts {
    language: "en-GB",
    site: "Petstore",
    skip: "Skip to content",
    main_menu: "Main menu",
    sign_out: "Sign out",
    today: "Today",
    animals_heading: "Animals",
    add: "Add",
    orders: "Orders",
    activity: "Activity",
    website: "Website",
    public_page: "See the public page",
    settings: "Settings",
    categories: "Categories",
    webhooks: "Webhooks",
    error_prefix: "Error: ",
    problem_heading: "There is a problem",
    go_back: "Go back",
    cancel: "Cancel",
    next_page: "Next page",
    first_page: "First page",
    no_name: "(no name)",
    actions: "Actions",

    // Values.
    name: "Name",
    number: "Number",
    category_number_label: "Category number",
    category: "Category",
    status_label: "Status",
    added_at: "Added",
    changed_at: "Last change",
    staff_member: "staff",
    program: |name| format!("program “{name}”"),
    a_program: "a program",
    the_service: "the service",
    the_operator: "the system administrator",
    reference: "Reference",
    reference_hint: "Your own number, such as an invoice or receipt number. Do not enter the customer’s name.",
    note: "Note",
    reason_label: "Reason",
    optional: "(optional)",
    until: "Reserved until (end of day)",
    category_hint: "Choose a category, or type its number.",
    animal: "Animal",
    order: "Order",
    placed_at: "Placed",
    ends: "Reserved until",
    ends_or_closed: "Date",
    closed_at: "Closed",
    sold_at: "Sold on",
    before_number: ["#", "no.", "no", "number", "animal", "order"],

    // Today.
    find_label: "Find an animal: name, number, microchip, breed, colour…",
    find: "Search",
    ending_today: "Ending today",
    ending_tomorrow: "Ending tomorrow",
    ending_later: "Ending the day after tomorrow",
    call: "Call",
    ending: "Reservations ending soon",
    none_ending: "No reservation ends in the next three days.",
    sold_today: "Sold today",
    all_sales: "All sales",
    incomplete: "Added in the last 7 days, photo or microchip missing",
    no_photo: "no photo",
    no_chip: "no microchip",
    newest_animals: "Newest animals",
    shown_of: |shown, count| format!("{shown} of {count}"),
    counting: "counting…",
    all_reservations: "All reservations",
    empty_store: "There are no animals yet",
    empty_store_hint: "Add the first one, or paste several from a spreadsheet.",
    add_animals: "Add animals",
    numbers: "Animals by status",
    first_steps: "First steps",
    step_store: "Tell people who you are: name, language, logo, address and opening hours",
    step_animal: "Add an animal",
    step_import: "Import animals from a spreadsheet",
    step_colleague: "Add a colleague",
    step_window: "See the public pages of your animals",
    no_steps: "Hide these steps",

    // Animal.
    edit: "Edit",
    save: "Save",
    reserve_more: "Reserve…",
    sell_more: "Sell…",
    reserve: "Reserve",
    sell: "Sell",
    sell_now: "Sell now",
    cancel_reservation: "Cancel the reservation",
    take_back_more: "Record a return…",
    take_back: "Record the return",
    take_back_hint: "For an animal that the customer has brought back. It becomes available again.",
    new_intake: "Also record its new arrival, today",
    sold_without_order: "It was marked as sold without an order. To correct this, edit its status.",
    pending_without_order: "It was marked as reserved without an order, so the reservation has no end. Reserve it here to \
     set one, sell it, or edit its status.",
    withdraw: "Record the departure",
    withdraw_more: "Record a departure…",
    withdraw_hint: "The animal is taken off the website and out of the usual lists. Its history is kept, and you can undo this.",
    restore: "Restore",
    restore_hint: "It returns to the lists as it was.",
    choose: "Choose a reason",
    history: "History",
    older: "Older entries",
    whole_before: "Full text before the change",
    no_history: "No changes were recorded.",
    new_note: "New note",
    new_note_hint: "For example, about behaviour or a phone call. Only staff can see notes.",
    add_note: "Add note",
    correct_note: "Correct or delete",
    note_on: |animal| format!("Note about {animal}"),
    note_corrected: "corrected",
    note_corrected_by: |name| format!("corrected by {name}"),
    note_missing: "Write something first.",
    no_note: "This note has been deleted.",
    not_your_note: "Only the person who wrote this note, or a manager, can change it.",
    too_many_notes: "This animal already has 500 notes. Delete some that are no longer needed.",
    delete_note: "Delete note",
    delete_note_question: "Delete this note?",
    delete_note_effect: "The text will be gone for good and cannot be brought back.",
    note_was_added: "Note added.",
    note_was_changed: "Note corrected.",
    note_was_deleted: "Note deleted.",
    status_held: "The animal belongs to an order. To change its status, open the order.",

    // Conflict.
    conflict: "Somebody else changed this animal",
    conflict_hint: "It changed while you were editing it. Your changes are not saved yet. Compare both versions, \
     edit yours if you like, then choose one.",
    theirs: "Saved version",
    yours: "Your version",
    save_mine: "Save mine",
    keep_theirs: "Keep the saved version",
    different: "different",

    // Add.
    add_one: "One animal",
    add_many: "Add from a spreadsheet",
    add_animal: "Add the animal",
    add_to_number: "Add the animal under this number, without a category name",
    paste: "Rows from the spreadsheet",
    paste_hint: "Copy the rows and paste them here: one animal in each row, its name and then its category. \
     For species, status and other details, put headings in the first row. \
     An animal without a category goes into the usual category for its species. You will see a preview before anything is added.",
    preview: "Preview",
    line: "Row",
    check: "Check",
    fine: "OK",
    preview_hint: "Nothing has been added yet. Either all the animals are added, or none.",
    change_lines: "Edit the rows",
    preview_again: "Preview again",

    // Orders.
    find_order: "Find an order by customer, telephone, animal, reference or number",
    find_order_by_animal: "Find an order by animal, reference or number",
    no_orders: "No orders here",
    no_orders_hint: "Open an animal to reserve or sell it.",
    no_order_found: "No orders found",
    all: "All",
    print: "Print",
    place_and_date: "Date",
    signature: "Signed by the customer",
    signature_of_store: "Signed on behalf of the store",
    contract_heading: "Sales contract",
    contract_name: "Name",
    contract_address: "Address",
    unknown_placeholder: |name| {
        format!(
            "The contract can have {{animal}}, {{store}}, {{microchip}}, {{fee}}, {{adopter}} and {{date}}, but not {name}. Correct it, or remove the braces."
        )
    },
    shown_here: "On this page:",
    only_first: "Only the 100 reservations that end soonest are shown.",

    // Problems.
    no_pet: "No animal has this number.",
    no_order: "No order has this number.",
    not_found: "Not found",
    name_too_long: "The name is too long.",
    name_missing: "Enter the name of the animal.",
    category_missing: "Enter the category.",
    status_invalid: "The status must be available, reserved or sold.",
    reason_missing: "Choose a reason.",
    day_invalid: "Enter today or a later day, at most 400 days from now.",
    none_selected: "Select at least one animal first.",
    nothing_pasted: "Paste at least one row.",
    stale: "Somebody else has changed this in the meantime, so your change was not made. \
     Check how it looks now, and try again.",
    nothing_changed: "Nothing was changed. It is not possible for these animals:",
    undone_without: "The others have their previous value again. These animals stay as they are:",
    status,
    withdrawn: "Left the store",
    departures: "Other departures",
    withdrawn_filter: "Other departures",
    status_below: |_, status| Cow::Borrowed(status),
    overdue: "Overdue",
    order_status,
    reason,
    extended: "Extended",
    renamed: "Category renamed",
    change,
    animals,
    more_than: |count| format!("More than {}", animals(count)),
    first_shown: |count| match count {
        1 => "The first animal is shown.".to_owned(),
        count => format!("The first {} are shown.", animals(count)),
    },
    title_of_order: |id| format!("Order {id}"),
    this_order: |id| format!("order {id}"),
    labels: |all| {
        let (last, others) = all
            .split_last()
            .map_or(("", all), |(last, others)| (*last, others));
        let others = others.join(", ");
        let both = if others.is_empty() {
            last.to_owned()
        } else {
            format!("{others} and {last}")
        };
        let mut letters = both.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + &letters.as_str().to_lowercase()
    },
    too_long: |label, most| {
        let thousands = if most < 1_000 {
            String::new()
        } else {
            format!("{},", most / 1_000)
        };
        let width = if most < 1_000 { 0 } else { 3 };
        let (label, rest) = (label.to_lowercase(), most % 1_000);
        format!("The {label} must have at most {thousands}{rest:0width$} characters.")
    },
    form_too_large: |most| {
        format!(
            "The form has more than {} fields, so none of it was read. Go back, and send less at a time.",
            in_digits(most)
        )
    },
    select: |name| format!("Select {name}"),
    add_count: |count| format!("Add {}", animals(count)),
    wrong_lines: |count| {
        if count == 1 {
            "1 row has a problem. Correct it below, and preview again.".to_owned()
        } else {
            format!("{count} rows have a problem. Correct them below, and preview again.")
        }
    },
    add_with_category: |label| format!("Add the animal, and the category “{label}”"),
    unknown_category: |text| {
        format!("There is no category “{text}”. Choose one from the list, or type its number.")
    },
    ambiguous_category: |text, one, other| {
        format!(
            "More than one category has the name “{text}”. Type its number, such as {one} or {other}."
        )
    },
    category_prefix: "Category ",
    category_number: |id| format!("Category {id}"),
    changed_by: |name| format!("Changed by {name}"),
    is_withdrawn: "It has left the store. Restore it first.",
    withdraw_animal: |name| format!("Record {name} as having left the store?"),
    has_no_reservation: "It has no reservation.",
    is_gone: "It no longer exists.",
    is_reserved: |order| format!("It is reserved by order {order}."),
    animal_is_reserved: |order| format!(" The animal is reserved by order {order}."),
    is_in_status,

    // Categories.
    no_categories: "No category has a name yet",
    no_categories_hint: "Give the first one a name, such as Dogs. Everybody can then choose it by this name.",
    name_category_heading: "Add or rename a category",
    category_number_hint: "An unused number is already filled in. To rename a category, enter its number and the new name.",
    label_missing: "Enter the name of the category.",
    label_invalid: "Enter 1 to 255 characters.",
    no_free_number: "No unused number was found. Enter a number on the Categories page.",
    number_invalid: "Enter a whole number.",

    // Adding one animal.
    category_of_species: "If you leave this empty, the animal goes into the usual category for its species. If there is none, one is created.",
    species_or_category: "Choose a species or a category.",
    or_about: "Or approximate age",
    about_hint: "For example, 2 years or 8 months; a number on its own means years.",
    ages_typed: [
        "y yr yrs year years",
        "m mo mos mth mths month months",
        "w wk wks week weeks",
    ],
    age_invalid: "Enter the age in years, such as 2, or with its unit, such as 8 months or 10 weeks.",
    birth_too_early: "This is more than 150 years ago. Enter an age of at most 150 years, or a later date of birth.",
    born_or_age: "Enter the date of birth or the age, not both.",

    // The texts about fields and their values.
    fields: "Fields",
    fields_hint: "Fields are the details of your animals that appear in forms, on their pages and in other programs.",
    more_fields: "More fields",
    any_value: "Any",
    no_value: "–",
    field_label: "Label",
    field_label_hint: "What people see, such as Breed.",
    field_name: "Technical name",
    field_name_hint: "Lower-case letters, digits and underscores, such as coat_length. If you leave it empty, it is made from the label. It cannot be changed later.",
    field_name_invalid: "Enter a technical name: 1 to 32 lower-case letters, digits and underscores, the first of them a letter.",
    field_name_taken: "Another field has this technical name. Enter a different one.",
    field_label_taken: "Another field already has this label. Both would look the same in all forms. Enter a different one.",
    field_kind: "Type",
    choose_kind: "Choose a type",
    field_label_invalid: "Enter a label of 1 to 255 characters.",
    field_kind_missing: "Choose a type.",
    field_choices: "Choices",
    more_choices: "More choices",
    remove_choice: "Remove",
    field_labels_hint: "To rename a choice, change its label here. The animals stay as they are, and programs keep using the original name.",
    field_labels_invalid: "Each choice needs a name of 1 to 100 characters that no other choice has or had. Upper and lower case \
     count as the same.",
    field_choices_hint: "Only for the type “Choice from a list”: 1 to 100 choices, one on each line, each with at most 64 characters.",
    field_choices_invalid: "Enter 1 to 100 different choices, one on each line, each with at most 64 characters. Upper and lower case count as the same.",
    field_position: "Position",
    field_position_hint: "From 0 to 10,000. Fields with lower positions come first. If you leave it empty, the field comes last.",
    field_position_invalid: "Enter a position from 0 to 10,000.",
    field_public: "Show on the website",
    field_public_hint: "Everybody can see the values.",
    field_unique: "Unique",
    field_unique_hint: "No two animals can have the same value, as with a microchip. Only for text and whole numbers.",
    add_field: "Add a field",
    delete_field: "Delete field",
    field_deleted_effect: "It disappears from all forms and pages. This is possible only while no animal has a value.",
    birth_invalid: "Enter a date with its day, month and year, such as 3 May 2024, not in the future.",
    no_field: "There is no such field.",
    field_in_use: "Some animals have a value in this field. Until none has, including animals that have left, the field cannot be deleted, \
     and its type and “Unique” cannot be changed.",
    too_many_fields: "There are 50 fields already. Delete one before you add another.",
    field_changed: "Somebody else changed this field at the same time. Check how it looks now, and save again.",
    delete_choice: |choice| format!("Remove the choice “{choice}”?"),
    show_field: |label| format!("Show “{label}” on the website?"),
    change_field: |label| format!("Change the field “{label}”?"),
    choice_in_use: |count, most, choice| {
        let animals = match count {
            _ if count > most => format!("more than {}", animals(most)),
            count => animals(count),
        };
        format!(
            "“{choice}” is used for {animals}. They keep it, but it can no longer be chosen for others. To rename it, change its label instead."
        )
    },
    becomes_public: |count, has_more| {
        let animals = match count {
            _ if has_more => "many animals".to_owned(),
            count => animals(count),
        };
        format!("It is filled in for {animals}. Everybody will be able to see it.")
    },
    kind: |kind| match kind {
        FieldKind::Text => ("Text", "Enter at most 255 characters."),
        FieldKind::LongText => ("Long text", "Enter at most 8,000 characters."),
        FieldKind::Integer => ("Whole number", "Enter a whole number, such as 4."),
        FieldKind::Decimal => (
            "Number with decimals",
            "Enter a number such as 249.00, with at most 12 digits before the point and 4 after it.",
        ),
        FieldKind::Date => (
            "Date",
            "Enter a date with its day, month and year, such as 3 May 2024.",
        ),
        FieldKind::Boolean => ("Yes or no", "Enter yes or no."),
        FieldKind::Choice => ("Choice from a list", "Choose one from the list."),
    },
    animal_with_number: |name, number| format!("{name} (number {number})"),
    value_taken: |label, other| {
        format!("{label}: {other} already has this value. Each animal needs its own.")
    },
    other_new: "another of these animals",
    show_animal: |other| format!("Show {other}"),
    shared_value: |label| {
        format!(
            "{label}: these animals have the same value, which must be unique. Change all but one:"
        )
    },
    field_removed: |label, typed| {
        format!(
            "The field {label} was removed. You typed: {typed}. It will not be saved when you send the form again."
        )
    },
    choice_removed: |label, chosen| {
        format!("{label}: {chosen} is no longer a choice. Choose another one, or none.")
    },
    number_shortened: |typed| {
        format!(
            "Excel has shortened the number to {typed}, so its last digits are lost. In Excel, select the column, choose Format Cells, Number, with 0 decimal places, and copy it again."
        )
    },
    spreadsheet_error: |cell| {
        format!(
            "{cell} is not a value. If it shows ####, widen the column in the spreadsheet; otherwise correct the formula or empty the cell. Then copy and paste the rows again."
        )
    },

    // The list of animals, and its bar.
    on_website: "On the website",
    not_on_website: "Not on the website",
    listing_invalid: "Enter yes or no.",
    website_hint: "Choose “Not on the website” while the animal is in quarantine, for example, or while an owner may still come forward. Until you change it, only staff can see the animal.",
    website_more: "Website…",
    put_on_website: "Put on the website",
    take_off_website: "Take off the website",
    any_status: "In the store",
    also_sold: "In the store or sold",
    filter: "Filter",
    filters: "Filters",
    add_sold: "Include sold animals",
    take_off: " (remove)",
    show: "Show",
    any_category: "Any",
    none_here: "None here at the moment",
    nothing_found: "No animals found",
    nothing_found_hint: "Check the spelling, or type only the beginning of the name.",
    none_match: "No animals match these filters.",
    search_orders: |typed| format!("Search the orders for “{typed}”"),
    select_all: "Select all on this page",
    skip_list: "Skip to the actions",
    with_selected: "Change the selected animals",
    all_or_none: "If one of them cannot be changed, none of them are.",
    reserve_or_sell: "Reserve or sell…",
    move_more: "Change the category…",
    move_label: "Move to category",
    value_more: "Change a value…",
    new_value: "New value",
    value_hint: "Depending on the field: one of its choices, yes or no, a date, a number or text. Leave it empty to clear the field.",
    field_of_animals: "Field",
    choose_field: "Choose a field",
    field_missing: "Choose the field to change.",
    cancel_reservations: "Cancel reservations",
    clear: "Clear all",
    chip: |label, value| format!("{label}: {value}"),
    too_many_filters: |most, left_out| {
        format!(
            "You can filter by at most {most} fields at once, so {left_out} is left out. Remove another filter first."
        )
    },

    // The texts of the pages for managers.

    // Activity.
    export: "Export as CSV",
    no_activity: "Nothing happened in this period",
    no_activity_hint: "Choose other days, or remove a filter.",
    no_activity_yet: "Nothing found yet",
    no_activity_yet_hint: "The newest entries do not match. The next page continues with older ones.",
    since: "From",
    up_to: "To (end of day)",
    animal_number: "Animal number",
    any_type: "Everything",
    when: "When",
    who: "Who",
    what: "What",
    about: "About",
    difference: "Details",
    export_cut: "More entries follow. Export fewer days at a time.",
    list_export_cut: "More rows follow. Filter the list, and export it in parts.",
    audited_change,
    act: |kind| match kind {
        ActType::KeyCreated => "API key created",
        ActType::KeyRotated => "API key replaced",
        ActType::KeyRevoked => "API key revoked",
        ActType::WebhookAdded => "Webhook added",
        ActType::WebhookChanged => "Webhook changed",
        ActType::WebhookDeleted => "Webhook deleted",
        ActType::WebhookSecretRotated => "Webhook secret replaced",
        ActType::WebhookEnabled => "Webhook enabled",
        ActType::WebhookDisabled => "Webhook disabled",
        ActType::FieldAdded => "Field added",
        ActType::FieldChanged => "Field changed",
        ActType::FieldDeleted => "Field deleted",
        ActType::ProfileChanged => "Store details changed",
        ActType::StaffAdded => "Staff member added",
        ActType::StaffRoleChanged => "Role of a staff member changed",
        ActType::StaffReset => "New sign-in link created",
        ActType::StaffDisabled => "Staff member blocked",
        ActType::StaffPasswordSet => "Password set",
        ActType::StaffLinked => "Linked to the sign-in provider",
        ActType::StaffSecondFactorSet => "Second factor set up",
        ActType::StaffSecondFactorRemoved => "Second factor removed",
        ActType::StaffPasskeyAdded => "Passkey added",
        ActType::StaffPasskeyRemoved => "Passkey removed",
        ActType::StaffSignedIn => "Signed in",
        ActType::StaffSignInFailed => "Sign-in failed",
        ActType::StaffSessionsEnded => "Sessions ended",
        ActType::DatabaseCopied => "Database copied",
        ActType::DatabaseRestored => "Database restored",
        ActType::DatabaseTimeConfirmed => "Clock of the database confirmed",
    },
    subject: |kind| match kind {
        SubjectKind::Pet => "Animal",
        SubjectKind::Pets => "Animals",
        SubjectKind::Order => "Order",
        SubjectKind::Category => "Category",
        SubjectKind::Note => "Note",
        SubjectKind::Key => "API key",
        SubjectKind::Staff => "Staff member",
        SubjectKind::Webhook => "Webhook",
        SubjectKind::Field => "Field",
        SubjectKind::Profile => "Store details",
        SubjectKind::Database => "Database",
    },

    // Webhooks.
    webhooks_hint: "A webhook tells another program, such as your website or your accounting software, about each change.",
    no_webhooks: "No webhooks yet",
    no_webhooks_hint: "Add one with the address that the other program gives you.",
    no_webhook: "No webhook has this number.",
    add_webhook: "Add a webhook",
    address: "Address",
    address_hint: "It begins with https://.",
    description: "Description",
    sends: "Changes to send",
    sends_hint: "If you choose none, every change is sent.",
    every_change: "Every change",
    works: "Working",
    not_used: "Not used yet",
    url_missing: "Enter the address.",
    url_invalid: "Enter an address such as https://shop.example/hooks, without spaces, a user name, a password or anything after a #. For http:// or an address inside your network, ask the system administrator.",
    fails: "Failing",
    off: "Off",
    fails_since: "Failing since",
    attempts: "Latest attempts",
    no_attempts: "Nothing has been sent yet.",
    result: "Result",
    duration: "Duration",
    delivered: "Delivered",
    failed: "Failed",
    test: "Send a test message",
    test_hint: "The result appears in the list of attempts a moment later.",
    enable: "Continue where it stopped",
    enable_hint: "Everything since then is sent.",
    enable_now: "Continue from now on",
    enable_now_hint: "What happened in the meantime is never sent.",
    disable: "Disable",
    block_member: "Block",
    disable_hint: "Nothing more is sent until you enable it.",
    rotate: "Create a new secret",
    rotate_hint: "The old one is valid for another 24 hours.",
    delete: "Delete",
    delete_webhook: "Delete this webhook",
    delete_hint: "This also deletes its list of attempts, and cannot be undone.",
    secret: "The webhook’s secret",
    secret_hint: "Copy it into the settings of the program now. It is not shown again.",
    too_many_webhooks: "There are 100 webhooks already. Delete one first.",
    failing_webhooks: |count| match count {
        1 => "1 webhook is not getting its messages.".to_owned(),
        count => format!("{count} webhooks are not getting their messages."),
    },
    show_webhooks: "Show the webhooks",
    disabled: |reason| match reason {
        DisabledReason::Failures => "Disabled because every message failed for five days",
        DisabledReason::Gone => "Disabled because the receiver wants no more messages",
        DisabledReason::Request => "Disabled by hand",
    },

    // Orders.
    price: "Price",
    contact: "Customer",
    contact_of: |_| TEXTS.contact,
    contact_hint: |kept| {
        format!(
            "For example, a name and a telephone number. These details are deleted {} after the sale or the end of the reservation.",
            days(kept)
        )
    },
    no_order_found_hint: |kept| {
        format!(
            "Check the spelling. When an order is closed, the customer’s details are kept for {}.",
            days(kept)
        )
    },
    only_newest: |searched| {
        format!(
            "Only the newest {searched} orders, and the first animals with this name, were searched."
        )
    },
    orders_found: |count, has_more| {
        let more = if has_more { " or more" } else { "" };
        let orders = if count == 1 && !has_more {
            "order"
        } else {
            "orders"
        };
        format!("{count}{more} {orders}")
    },
    sum_of: |status, count, sum| {
        let what = match (status, count) {
            (OrderStatus::Completed, 1) => "sale",
            (OrderStatus::Completed, _) => "sales",
            (_, 1) => "reservation",
            _ => "reservations",
        };
        format!("{count} {what} with a price, {sum} in total")
    },
    text_too_long: "Enter at most 500 characters.",
    contact_changed: "Customer changed or deleted",
    change_order: "Change the order",
    extend_or_change: "Extend the reservation or change the order",
    price_invalid: "Enter an amount, such as 249.00.",
    ambiguous: |typed, [one, other], [first, second]| {
        format!("{typed} can mean {one} or {other}. Write {first} or {second}.")
    },
    reopen,
    typed_here: "What you typed has not been saved:",
    that_was: "That was",
    did_that: |name| format!("{name} did that"),
    order_before: "Previous order",
    price_of_each: "Price for each animal (leave empty to use each animal’s own)",
    order_is,

    // Photos.
    manage_photos: "Manage photos",
    to_animal: "Back to the animal",
    add_photos: "Add photos",
    photos_hint: "JPEG, PNG, WebP or GIF. You can choose several, or take a new photo.",
    upload: "Upload",
    save_texts_first: "Press Save before you press Upload. Upload does not save the descriptions.",
    make_main: "Use as main photo",
    move_up: "Move left",
    move_down: "Move right",
    turn_left: "Rotate left",
    turn_right: "Rotate right",
    look_more: "Focal point",
    look_hint: "Lists show only part of a photo. Click the part that must stay visible, or choose it below.",
    points: [
        "Nothing chosen",
        "Top left",
        "Top",
        "Top right",
        "Left",
        "Centre",
        "Right",
        "Bottom left",
        "Bottom",
        "Bottom right",
    ],
    look_at_pressed: "The point that you clicked",
    uploads: [
        "Waiting",
        "Uploading",
        "Waiting for the connection",
        "Added",
        "Not added.",
        "Try again",
        "Skip this photo",
        "This photo is too large. Choose a smaller one, or tell the system administrator.",
        "The service cannot be reached.",
        "You are signed out. Use another tab to sign in, and press the button again.",
        "This is the same photo as {}.",
        "An animal can have up to 20 photos. Not uploaded ({}): {}",
        "1 photo added.",
        "{} photos added.",
        "{} not added.",
        "The photos are still uploading. The form will be sent when they have finished.",
    ],
    photos: "Photos",
    photos_after: "Add the animal first. Then add its photos: press “Manage photos” on its page.",
    take_photo: "Keep",
    no_picture: "This file is not a JPEG, PNG, WebP or GIF picture. Choose another one.",
    picture_too_large: "This picture is too large. Choose a smaller one.",
    too_many_pictures: "Too many pictures are waiting at the moment. Try again.",
    photos_not_added: "Your session has ended. The photos were not added: sign in, and choose them again.",
    heic: "This is a HEIC picture. Set the camera to “Most compatible” (on an iPhone: \
     Settings, Camera, Formats), and take it again, or choose a JPEG.",
    another_member: "Another member is signed in now. Sign in as yourself in another tab, \
     and press the button again. Without JavaScript, choose the photos again.",
    too_many_photos: "20 of 20 photos. Delete one to add another.",
    photo_is_gone: "The photo will be removed. You have a day to undo this.",
    photo_not_kept: "This photo cannot be put back: it was deleted too long ago. Add it again.",
    put_back: "Put it back",
    photo_added: "Photo added",
    photo_turned: "Photo rotated",
    photo_deleted: "Photo deleted",
    photos_moved: "Photos rearranged",
    photo_focused: "Focal point of a photo chosen",
    photo_described: "Photo described",
    photo_file_missing: "The file of this photo is missing, so it cannot be rotated. Tell the system administrator.",
    photo_of: |number, animal, alt| {
        alt.map_or_else(|| format!("Photo {number} of {animal}"), str::to_owned)
    },
    this_photo: |number, animal| format!("photo {number} of {animal}"),
    photos_of: |animal| format!("Photos of {animal}"),
    look_at: |number| format!("Focal point of photo {number}"),
    alt_of: |number| format!("Describe photo {number} (for people who cannot see it)"),
    photo_button: |label, number| format!("{label}: photo {number}"),
    photos_lost: |count| {
        let photos = if count == 1 {
            "1 photo".to_owned()
        } else {
            format!("{count} photos")
        };
        format!(
            "{photos} waited too long or did not fit, and will not be added. Choose again what is missing, and send the form again."
        )
    },
    photos_added: |count| {
        if count == 1 {
            "1 photo added.".to_owned()
        } else {
            format!("{count} photos added.")
        }
    },

    // What the pages ask before they do something, and what they say first afterwards.

    // Categories.
    more_categories: "For others, open Categories.",
    name_it: "Give it this name",
    rename_category: |old, new| format!("Rename the category “{old}” to “{new}”?"),
    name_category: |id, label| format!("Give category {id} the name “{label}”?"),
    category_has: |count| {
        let is = if count == 1 { "is" } else { "are" };
        format!(
            "{} {is} in this category and will show this name.",
            animals(count)
        )
    },
    label_taken: |label, id| {
        format!(
            "Category {id} already has the name “{label}”. Both would look the same in all lists."
        )
    },
    cancels: |order| {
        format!("The animal is reserved. Its reservation, order {order}, will be cancelled.")
    },

    // Several animals at once.
    change_verb: "Change",
    move_animals: |count, category| format!("Move {} to “{category}”?", animals(count)),
    change_animals: |count, label, value| {
        format!("Set “{label}” to “{value}” for {}?", animals(count))
    },
    clear_animals: |count, label| format!("Remove “{label}” from {}?", animals(count)),
    reserve_animals: |count, end| format!("Reserve {} until the end of {end}?", animals(count)),
    sell_animals: |count| format!("Sell {}?", animals(count)),
    cancel_reservations_of: |count| {
        let reservations = if count == 1 {
            "reservation"
        } else {
            "reservations"
        };
        format!("Cancel the {reservations} of {}?", animals(count))
    },
    withdraw_animals: |count, why| {
        format!(
            "Record {} as having left the store ({})?",
            animals(count),
            reason(why).to_lowercase()
        )
    },
    list_animals: |count| format!("Put {} on the website?", animals(count)),
    unlist_animals: |count| format!("Take {} off the website?", animals(count)),

    // Pasted lines.
    no_heading: "It has more cells than there are columns.",
    several_lines: "The cell has several lines. Is a closing quotation mark missing?",
    quote_not_closed: "A closing quotation mark is missing, or there is a quotation mark inside a cell without quotation marks around it. Write such a cell as \"Called \"\"Max\"\"\", or remove the quotation mark.",
    columns: "Columns",
    leave_out: "Leave out",
    first_line: "The first row",
    first_line_is: ["is an animal", "has the headings"],
    first_line_has_headings: "The first row has headings",
    first_line_counts: "The first row is being read as an animal.",
    unknown_columns: "What do these columns contain?",
    see_above: "See above",
    lines_with: |numbers| format!("Rows {numbers}"),
    separator: "The cells are separated by",
    separators: ["a comma", "a semicolon", "a tab"],
    titles_left_out: |titles| format!("Not imported, because it is above the headings: {titles}"),
    column_ambiguous: |heading, one, other| {
        format!("“{heading}” can be {one} or {other}. Choose which.")
    },
    column: |heading| format!("“{heading}” contains"),
    chosen_twice: |label| {
        format!("Two columns are set to {label}. Choose something else for one of them.")
    },
    column_missing: |label| format!("Choose the column that contains {label}."),
    left_out: |headings| format!("Leave out {headings}"),
    left_out_hint: "These columns will not be imported. Choose above what they contain, or confirm that they are left out:",
    column_number: |number| format!("column {number}"),
    leave_out_first: "Tick the box to leave out the other columns, or choose what they contain.",
    first_lines: |taken, rest| {
        format!(
            "At most {taken} animals are added at once. The other {rest} stay here and follow in the next preview."
        )
    },
    lines_added: |added| format!("{added} animals added. Here are the next ones."),
    on_line: |number, why| format!("Row {number}: {why}"),
    no_category: |number| {
        format!(
            "There is no category {number}. Name it on the Categories page first, or correct the number."
        )
    },
    no_choice: |typed, choices| format!("“{typed}” is not one of the choices: {choices}."),

    // Settings.
    make_link: "Create a new link",
    revoke_effect: "From then on, every program with this key is rejected. A revoked key cannot be used again.",
    really: |verb, what| match what.strip_prefix("for ") {
        Some(name) if verb == TEXTS.change_role => format!("{verb} of {name}?"),
        _ if verb == TEXTS.revoke_key => format!("{verb} the key “{what}”?"),
        _ => format!("{verb} {what}?"),
    },
    disable_member: |name| {
        format!("All sessions of {name} end at once, and {name} can no longer sign in.")
    },
    change_role: "Change the role",
    role_becomes: |name, old, new| {
        format!(
            "{name} is now a {}, and will be a {}. {}.",
            role(old),
            role(new),
            what_role_may(new)
        )
    },
    reset_member: |name| {
        format!(
            "All sessions of {name} end at once. The password, the second factor and the passkeys of {name} become invalid. {name} chooses a new password with the link."
        )
    },

    // Forms that several people fill in.
    now_changed: |label, now, was| {
        let was = was.map(|was| if was.is_empty() { "empty" } else { was });
        let it_was = was.map(|was| format!("; it was {was}")).unwrap_or_default();
        format!(
            "{label} is now {now}{it_was}. Nothing has been changed yet. Check what you typed, and press the button again."
        )
    },

    // Forms that outlived their session.
    form_of_another: "Somebody else filled in this form",
    somebody: "Somebody else",
    form_of: |owner, you| {
        format!(
            "{owner} filled in this form, and you are signed in as {you}. Nothing has been changed yet."
        )
    },
    send_as: |you| format!("Send it as {you}"),

    // After something was done.
    undo: "Undo",
    not_undoable: "This change cannot be undone.",
    show_order: "Show the order",
    add_another: "Add another like this",
    reserved_as: |order| format!("Reserved (order {order})."),
    sold_as: |order| format!("Sold (order {order})."),
    added_as: |animal| format!("Added as animal {animal}."),
    added_about: |animal| {
        format!("Added as animal {animal}. Its date of birth was calculated from its age.")
    },
    added_many: |count| format!("{} added.", animals(count)),
    undone_many: |count| format!("The change to {} has been undone.", animals(count)),
    changed_many: |count| format!("{} changed.", animals(count)),
    reservation_cancelled: "The reservation has been cancelled. The animal is available.",
    sale_undone: "The sale has been undone.",
    taken_back: "Returned. The animal is available again.",
    photo_was_removed: "Photo removed.",
    photo_was_turned: "Photo rotated.",
    photo_is_back: "The photo is back.",
    reservation_extended: "The end of the reservation has been changed.",
    undone: "The change has been undone.",
    saved: "Saved.",
    was_withdrawn: "Saved. The animal is no longer in the usual lists.",
    was_restored: "Restored.",
    was_deleted: "Deleted.",
    webhook_disabled: "Nothing more is sent to it.",
    webhook_enabled: "The webhook is enabled.",
    webhook_tested: "A test message is on its way. Reload in a moment to see the result.",
    password_changed: "Your password has been changed. Your other sessions have ended.",
    session_ended: "The session has ended.",
    second_factor_removed: "Your second factor has been removed. Your other sessions have ended.",
    role_changed: "The role has been changed.",
    member_disabled: "This staff member can no longer sign in. Their sessions have ended.",
    key_revoked: "The key has been revoked.",

    // Pages for signing in and for managing accounts, staff and API keys; rejected requests; and open pages.

    // Signing in.
    sign_in: "Sign in",
    password: "Password",
    code: "Code",
    continue_label: "Continue",
    sign_in_wrong: "The name or the password is wrong. Check both, and try again.",
    code_hint: "The six digits that your app shows, or one of your recovery codes.",
    code_wrong: "This code is wrong or has already been used. Wait until the app shows the next code.",
    sign_in_ended: "Sign in again. This sign-in took too long, or its code was sent twice.",
    form_saved: "Enter your password to continue. What you typed is kept, and you can send it afterwards.",
    form_too_long: "Your session has ended, and your text is too long to be kept here. Use another tab to sign in, go back in this one, and send it again.",
    form_not_of_browser: "This form was kept in another browser, or this browser has since lost its cookies, so it was not sent. Go back to the page of the form, and send it again.",
    no_password: "No password yet, or forgotten it? A manager can give you a link.",
    submit_saved_form_hint: "You are signed in. Send what you typed now.",
    submit_saved_form: "Send what I typed",
    discard_saved_form: "Do not send it",
    changed_meanwhile: "Somebody else has changed this in the meantime, so your change was not made. Reload the page, and check how it looks now.",

    // Signing in at a provider, whose host names it.
    provider: "Provider",
    link_needed: "To do this, you must have signed in recently. You signed in with a link: ask a manager for a new one, or sign out and sign in again.",
    no_passwords: "Passwords are not used here. Sign in with the button.",
    sign_in_elsewhere: "This sign-in took longer than ten minutes, was already completed, or began in another browser. Sign in again.",
    access_disabled: "A manager has blocked your access.",
    signed_in: "You are signed in",
    signed_in_hint: "Close this tab, and continue in the one you came from.",
    signed_out_title: "You are signed out",
    role_of_provider: "This member’s role comes from the provider they sign in with. Change it there.",
    enter_once: "Sign in once with this link",
    sign_in_at: |host| format!("Sign in with {host}"),
    sign_in_in_new_tab: |host| {
        format!(
            "Sign in with {host} in a new tab, and come back to this one. What you typed stays here; send it then."
        )
    },
    provider_unreachable: |host| format!("{host} does not respond. Wait a minute, and try again."),
    provider_invalid: |host| {
        format!(
            "The response from {host} could not be accepted. Try again. If this happens again, ask the system administrator: the log of the service says why."
        )
    },
    sign_in_stopped: |host| format!("{host} has stopped the sign-in. Sign in again."),
    no_role: |host| {
        format!(
            "{host} knows you, but it gives you no role here. Ask a manager, or the people who manage your accounts."
        )
    },
    identity_of_another: |host| {
        format!(
            "This link belongs to one member, and your account at {host} to another. Sign out at {host}, and use the account that belongs to the link."
        )
    },
    sign_out_at: |host| format!("Sign out at {host}"),
    signed_out_hint: |host| format!("You are signed out here, and now also at {host}."),
    signs_in_at: |host| format!("signs in with {host}"),
    link_to_provider: |host| {
        format!("Or sign in with {host} from now on. Then you do not need a password here.")
    },
    enter_once_hint: |host| {
        format!("If you cannot sign in with {host}, this link lets you in once.")
    },

    // Passwords and links.
    choose_password: "Choose a password",
    new_password: "New password",
    new_password_again: "New password again",
    new_password_hint: "At least 12 characters, such as four random words. You can paste the password.",
    passwords_different: "The two passwords are different. Enter the same one twice.",
    save_password: "Save and sign in",
    link_invalid: "This link is not valid",
    link_invalid_hint: "It has already been used, is more than 24 hours old, or has been replaced by a newer one. If you have chosen a password, sign in with it. Otherwise, ask a manager for another link.",

    // Account.
    account: "Your account",
    current_password: "Current password",
    change_password: "Change the password",
    current_password_wrong: "The current password is wrong. Enter the password that you sign in with now.",
    sessions: "Sessions",
    only_last_sessions: "Only the 100 most recently used sessions are shown.",
    language_label: "Language",
    language_of_store: |name| format!("Same as the store ({name})"),
    own_sessions: "Where you are signed in",
    browser_label: "Browser",
    ip_address: "IP address",
    last_used: "Last used",
    this_session: " (this one)",
    browser_on: |browser, system| format!("{browser} on {system}"),
    end_session: "End",

    // The second factor.
    second_factor: "Second factor",
    second_factor_off: "Protect your account with two-step verification: an app on your phone shows a code.",
    second_factor_required: "Your role needs a second factor. Set it up to continue.",
    second_factor_stays: "Your role needs a second factor, so you cannot remove it. You can set up another app.",
    second_factor_set: "Your second factor is set up. Your other sessions have ended.",
    set_up: "Set up a second factor",
    change_second_factor: "Change the second factor",
    remove_second_factor: "Remove the second factor",
    without_second_factor: "Without a second factor",
    set_up_app: "Set up an app",
    open_app: "Open an authenticator app on your phone.",
    scan: "Scan this QR code, or enter the setup key by hand.",
    qr_code: "QR code with the setup key",
    app_code: "Code that the app shows",
    use_app: "Use this app",
    app_code_wrong: "The code is wrong. Check the clock on your phone, and enter the code that the app shows now.",
    recovery_codes: "Recovery codes",
    new_codes_hint: "Make new recovery codes if you have used or lost some. The old ones become invalid.",
    new_codes: "Make new recovery codes",
    codes_replaced: "These codes replace the old ones. Your other sessions have ended.",
    codes_hint: "Keep these recovery codes where you can find them without your phone, such as on paper. Each one signs you in once. They are not shown again.",
    codes_kept: "I have saved them",

    // Passkeys.
    passkey: "Passkey",
    passkeys: "Passkeys",
    passkeys_short: "Sign in with your fingerprint, your face or a PIN instead of your password.",
    change_passkeys: "Manage passkeys",
    passkeys_hint: "A passkey is stored on your phone, your computer or a security key, and asks for your fingerprint, your face or a PIN. It signs you in without your password. As soon as you have one, the password is no longer enough: you also need the passkey, or a code from your app. Add a second one on another device. If you lose all of them, a manager can give you a new link.",
    passkey_name: "Name of the passkey",
    passkey_name_invalid: "The name must be one line of 1 to 60 characters.",
    add_passkey: "Add a passkey",
    passkeys_full: "You have 10 passkeys, which is the maximum. Remove one before you add another.",
    passkeys_elsewhere: "Passkeys are not set up for this address. Ask the system administrator.",
    sign_in_with_passkey: "Sign in with a passkey",
    passkey_needed: "Your password is right. Now use your passkey. If you have lost it, ask a manager for a new link.",
    passkey_script: "Passkeys need JavaScript, which this browser does not run.",
    passkey_unsupported: "This browser is too old for passkeys. Update it, or use another one.",
    passkey_stopped: "No passkey was used: the browser’s question was closed, it took too long, or this device has none for this site. Try again.",
    passkey_known: "This device already has a passkey for your account.",
    passkey_late: "This took longer than five minutes, was sent before, or began in another tab. Try again.",
    passkey_rejected: "This passkey does not work here. It was removed, or is for another site. Sign in another way.",
    passkey_of_another: "This is the passkey of another member. Use one of yours.",
    passkey_unusable: "This passkey cannot be added. It must check a fingerprint, a face or a PIN, and must be new. Try another device.",
    passkey_added: "The passkey has been added. Your other sessions have ended.",
    passkey_removed: "The passkey has been removed. Your other sessions have ended.",
    passkey_count: "Counter of the passkey",

    // Staff.
    staff: "Staff",
    role_label: "Role",
    state: "Status",
    you: "you",
    add_member: "Add a staff member",
    password_again: "Enter your password again, because you last did so more than five minutes ago. What you \
     typed is kept, and you can send it afterwards.",
    add_member_button: "Add and create a sign-in link",
    member_name_hint: "They sign in with this name.",
    member_name_invalid: "The name must be one line of 1 to 64 characters.",
    member_name_taken: "There is already a staff member with this name. Choose another one.",
    too_many_members: "There are 1,000 staff members already. No more can be added.",
    own_access: "You cannot change your own role or access. Ask another manager.",
    new_link: "New sign-in link",
    disabled_state: "blocked",
    active: "active",
    active_with_second_factor: "active, with a second factor",
    has_link: "has a link",
    link_expired: "link expired",
    link: "Link to set the password",
    copy: "Copy",
    copied: "Copied",
    secret_kept: "Done",

    // API keys.
    keys: "API keys",
    add_key: "Create a key",
    key_name_hint: "The program or person that uses the key, such as your website.",
    key_name_invalid: "The name must be one line of 1 to 255 characters.",
    allows: "Allows",
    what_key_allows: "What it allows",
    never: "never",
    called_get_pet: "still called getPet: ",
    revoked: "revoked ",
    expired: "expired ",
    valid_until: "valid until ",
    valid: "valid",
    rotate_key: "Replace",
    revoke_key: "Revoke",
    key_not_rotated: "This key has already been replaced or revoked, or has expired.",
    new_key: "A new API key",
    new_key_hint: "Copy the key into the settings of the program now. It is not shown again.",

    // Requests that are rejected.
    incomplete_form: "This form is not complete. Reload the page, and send it again.",
    body_too_large: "What you sent is too large for the service.",
    not_accepted: "The service did not accept the request.",
    not_allowed: "Your role does not include this page.",
    foreign_host: |host, expected| {
        let remedy = match expected {
            "" => "Ask the system administrator for its address.".to_owned(),
            expected => format!(
                "Open it at {expected}. If you did, ask the system administrator: the log of the service says what to correct."
            ),
        };
        format!("The console is not at {host:.255}. {remedy}")
    },
    needs_https: "The console needs HTTPS, because a password must not be sent unencrypted. Open it with https://, or on the machine where it runs.",
    foreign_form: "This form was sent by another site, so it was not accepted. Open the console and send the form there.",
    foreign_origin: |origin, own| {
        format!(
            "This form was sent by {origin:.255}, and the request is for {own:.255}, so it was not accepted. Open the console and send the form there. If {origin:.255} is the console, ask the system administrator: the log of the service says what to correct."
        )
    },
    connection_replaced: "Too many connections are open. Wait a moment, and reload the page.",
    to_first_page: "Go to Today",
    request: "Error code ",

    // Open pages.
    page_changed: "Somebody has changed something on this page. It stays as it is while you are using it.",
    offline: "There is no connection, so nothing was sent. What you typed is still here: try again when the connection is back.",
    connection_lost: "The connection to the service has been lost. This page may be out of date.",
    signed_out: "You are signed out, so this page may be out of date. Use another tab to sign in, or reload the page.",
    show_change: "1 change – show it",
    show_changes: "{} changes – show them",
    reload: "Reload the page",
    more_follow: "More entries follow on the next page.",
    not_in_text: "The control character U+0000 is not allowed. Type the text again instead of pasting it.",
    newest_first: "Newest first",
    by_name: "Name A–Z",
    by_price: |price| format!("Lowest {} first", price.to_lowercase()),
    youngest_first: "Youngest first",
    too_many_to_sort: |most| {
        format!(
            "Only lists of up to {most} animals can be sorted. Choose a filter first, such as a species."
        )
    },
    stay: "Here for",
    longest_first: "Longest with us first",
    too_many_attempts: |minutes| {
        let plural = if minutes == 1 { "" } else { "s" };
        format!(
            "There were too many attempts to sign in. Wait {minutes} minute{plural}, or ask a manager for a link."
        )
    },
    weak: |weak| {
        match weak {
        WeakPassword::Short => {
            format!(
                "The password must have at least {} characters.",
                Password::MIN_LENGTH
            )
        }
        WeakPassword::Long => {
            format!(
                "The password must have at most {} characters.",
                Password::MAX_LENGTH
            )
        }
        WeakPassword::Common => {
            "This password is easy to guess: it is common, repeats one character, or is little more than common words or a name. Choose another one, such as four random words."
                .to_owned()
        }
    }
    },
    welcome: |name| html! { "Welcome, " bdi { (name) } ". Choose the password that you will sign in with." },
    you_are: |name, of| html! { "Signed in as " bdi { (name) } " (" (role(of)) ")" },
    second_factor_on: |recovery_codes| {
        let plural = if recovery_codes == 1 { "" } else { "s" };
        format!(
            "You need your app to sign in. You have {recovery_codes} recovery code{plural} left."
        )
    },
    session_in: |browser| format!(" the session in {browser}"),
    for_member: |name| format!(" for {name}"),
    role_of: |name| format!("Role of {name}"),
    give_link: |name| {
        html! {
            "Give this link to " bdi { (name) } ", and to nobody else. It is valid for 24 hours and is not "
            "shown again."
        }
    },
    role,
    what_role_may,
    scope: |scope| match scope {
        Scope::Read => "View animals (name, category and status only)",
        Scope::Write => "View and add animals (name, category and status only)",
        Scope::StoreRead => "View animals and orders (without customers’ details)",
        Scope::StoreWrite => "View and change animals and orders (with customers’ details)",
        Scope::StoreAdmin => {
            "Everything, including fields, webhooks, activity and the store’s details"
        }
    },
    problem: |problem| match problem {
        Problem::NotFound | Problem::OperationRemoved => (
            TEXTS.not_found,
            Some("There is no such page."),
            "Check the address, or go to Today.",
        ),
        Problem::Internal => (
            "Something went wrong",
            Some("This is an error in the service. Nothing that you typed was wrong."),
            "Try again. If it happens again, tell the system administrator the error code below.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "The service is busy",
            Some(
                "The service could not complete the request. A change may or may not have been made.",
            ),
            "Wait a moment, and reload the page. The same form is never processed twice.",
        ),
        Problem::StorageFull => (
            "The disk is full",
            Some(
                "The service cannot save anything, because the disk of its server is full. Nothing was changed.",
            ),
            "Ask the system administrator to free some space. Then go back, and send the form again.",
        ),
        Problem::BodyTooLarge => (
            "Too much text",
            None,
            "Go back, and send it in several parts.",
        ),
        Problem::InsufficientScope => ("Not allowed", None, "Go back, or ask a manager."),
        _ => (
            "This did not work",
            None,
            "Go back, and check what you sent.",
        ),
    },

    // The store.
    logo: "Logo",
    upload_logo: "Logo file",
    logo_hint: "A PNG, JPEG or WebP of at most 2 MB. Press Save before you press Upload. Upload does not save what you typed above.",
    logo_missing: "Choose a picture first.",
    logo_invalid: "The logo must be a PNG, JPEG or WebP picture. Choose another file.",
    logo_too_flat: "The logo must be at least 16 pixels wide and high, at most 12 times as wide as high, and at most 3 times as high as wide. Choose another picture.",
    picture_problem: |problem| match problem {
        PictureProblem::NoPicture | PictureProblem::OtherFormat { .. } => {
            TEXTS.no_picture.to_owned()
        }
        PictureProblem::Truncated { .. } => {
            "The picture is not complete: its end is missing. Choose the whole file.".to_owned()
        }
        PictureProblem::OtherData { .. } => {
            "The picture is followed by other data. Save it again with another program.".to_owned()
        }
        PictureProblem::Unreadable => {
            "The picture is damaged and cannot be read. Save it again with another program."
                .to_owned()
        }
        PictureProblem::Metadata { length, most } => {
            let [length, most] = [length, most].map(in_digits);
            format!(
                "The picture has {length} bytes of other data, and at most {most} are allowed. Remove that data, or save the picture again with another program."
            )
        }
        PictureProblem::ManyPictures { most } => {
            let most = in_digits(most);
            format!("The file has more than {most} pictures. Choose a file with one of them.")
        }
        PictureProblem::Pixels {
            width,
            height,
            most,
            most_of_side,
        } => {
            let most = in_digits(most);
            format!(
                "The picture has {width} × {height} pixels. At most {most} are allowed in all, and {most_of_side} for each side. Choose a smaller one."
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
                "The picture has {width} × {height} pixels, and a {format} picture of this kind can have {most}. Choose a smaller one, or a JPEG that is not progressive."
            )
        }
        PictureProblem::Memory => {
            "The picture needs too much memory. Choose one with fewer pixels.".to_owned()
        }
        PictureProblem::Time => {
            "It takes too long to read the picture. Choose a smaller one.".to_owned()
        }
        PictureProblem::FlatLogo => TEXTS.logo_too_flat.to_owned(),
    },
    remove_logo: "Remove the logo",
    logo_removed_effect: "It disappears from all pages. To show it again, upload it again.",
    as_shown: "What everybody sees",
    see_website: "See the website",
    operator_value: |value| {
        format!("If this is empty, the system administrator’s setting is used: {value}.")
    },
    no_currency: "If this is empty, amounts are shown without a currency.",
    nameless: |console, website| {
        format!("If this is empty, the console shows “{console}” and the website “{website}”.")
    },
    default_is: |value| format!("If this is empty, the default is used: {value}."),
    store: "Store",
    change_store: "Edit the details of the store",
    store_hint: "Visitors see this on the website, and staff see it here and on printouts. All of it is optional.",
    who_you_are: "Who you are",
    how_to_reach_you: "How to reach you",
    pages_heading: "Language and appearance",
    paper_heading: "On paper",
    links: "Links",
    links_hint: "They appear at the bottom of every public page: your privacy policy or your terms, for example.",
    more_links: "More links",
    not_chosen: "Not chosen",
    store_stale: "Somebody else changed these details at the same time. Check how they look now, and save again.",
    link_label_invalid: "The text of a link must have 1 to 60 characters on one line. Enter it, or clear both fields of the link.",
    link_url_invalid: "The address of a link must begin with https://, without spaces, without a user name before an @, and with at most 500 characters. Correct it, or clear both fields of the link.",
    several_urls: "There are several addresses here. Enter only one, and put the others under the next links.",
    pick_colour: "Pick a colour",
    link_label: |number| format!("Link {number}: text"),
    link_url: |number| format!("Link {number}: web address"),
    member_name: [
        "Name",
        "It appears at the top of every page.",
        "The name must have at most 120 characters on one line. Shorten it, or leave it empty.",
    ],
    member_kind: [
        "Type",
        "Shelters see “adopted” and “adoption fee”; shops see “sold” and “price”.",
        "The type must be a shop or a shelter. Choose one of them, or none.",
    ],
    member_about: [
        "About",
        "A few sentences for the home page of your website, at most 2,000 characters.",
        "The text about the store must have at most 2,000 characters. Shorten it, or leave it empty.",
    ],
    member_contract: [
        "Contract",
        "Printed below the details of the order, above the lines for signatures. It does not appear on the website. You can use these placeholders: {animal} for the animal’s name, {store} for the name of the store, {microchip} for the microchip number, {fee} for the price, {adopter} for the customer’s name, {date} for the date of the sale, or today’s date if there is none yet. Anything missing becomes a blank line to fill in. Leave an empty line between paragraphs; at most 4,000 characters.",
        "The contract must have at most 4,000 characters. Shorten it, or leave it empty.",
    ],
    member_email: [
        "E-mail",
        "",
        "The e-mail address must have the form name@example.org, without spaces and with at most 254 characters. Correct it, or leave it empty.",
    ],
    member_telephone: [
        "Telephone",
        "",
        "The telephone number must have 3 to 40 characters, at least 3 of them digits: digits, spaces, and + - ( ) / . are allowed. Correct it, or leave it empty.",
    ],
    member_contact_page: [
        "Contact page",
        "The address of your contact form. It begins with https://. If the address can include the animal’s number, put {id} where the number goes, as in https://www.example.org/contact?animal={id}.",
        "The contact page must be an address that begins with https://, without spaces, without a user name before an @, without {id} in the name of the server, and with at most 500 characters. Correct it, or leave it empty.",
    ],
    member_address: [
        "Address",
        "Line by line, as on an envelope, at most 500 characters.",
        "The address must have at most 500 characters. Shorten it, or leave it empty.",
    ],
    member_hours: [
        "Opening hours",
        "Line by line, as on your door, at most 500 characters.",
        "The opening hours must have at most 500 characters. Shorten them, or leave them empty.",
    ],
    member_language: [
        "Language",
        "",
        "The language must be one of those in the list. Choose one of them, or none.",
    ],
    member_time_zone: [
        "Time zone",
        "This time zone decides when a day begins and ends: on the Today page, for ages and reservations, and on the website. If you choose none, times are shown in the time zone of each device, and days begin and end at midnight UTC.",
        "The time zone must be one of those in the list. Choose one of them, or none.",
    ],
    member_currency: [
        "Currency",
        "Three letters, such as GBP, or a sign, such as £.",
        "This currency is not known, or not clear. Enter three letters, such as EUR, or a sign such as € or £. Or leave it empty.",
    ],
    member_colour: [
        "Colour",
        "The colour of buttons and links on the website: pick it below, or type its name, such as green, or its code, such as #2f6f4f.",
        "This colour is not known. Pick one below, or type a name such as green, or # with six digits or letters from a to f. Or leave it empty.",
    ],
    zone_of_device: "This device",
    zone_regions: [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian Ocean",
        "Pacific",
    ],
    store_kind: |kind| match kind {
        StoreKind::Shop => "Shop",
        StoreKind::Shelter => "Shelter",
    },

    // Moments in words.
    just_now: "just now",
    tomorrow: "tomorrow",
    yesterday: "yesterday",
    ago: |count, unit| format!("{} ago", span(count, unit)),
    ahead: |count, unit| format!("in {}", span(count, unit)),
    soon: "in less than a minute",
    doubted_clock: |now, confirmed, hours| {
        format!(
            "The clock of the server shows {now}, but the last confirmed time is {confirmed}. No reservation ends until this is settled. Tell the system administrator: correct the clock, or if it is right, run “petstore clock confirm”. If the clock keeps running evenly, it will be trusted in {}.",
            span(hours, Unit::Hour)
        )
    },
    shelter_fields: "More fields for a shelter",
    shelter_fields_hint: "One click adds these fields. They start empty; nothing else about your animals changes.",
    add_shelter_fields: "Add these fields",
    by_place: |place| format!("By {}", place.to_lowercase()),
    store_labels: "Field labels in the language of the store",
    store_labels_hint: "Labels that somebody has changed stay as they are. No animal’s details are changed.",
    labels_with_language: "Also change the field labels, such as “Species” and “Sex”, to this language",
    write_labels: "Use these labels",
    no_backup: "There is no backup yet. Ask the system administrator to turn on backups.",
    old_backup: |at| {
        format!(
            "The last backup is from {at}. Tell the system administrator: the log of the service says why there is no newer one."
        )
    },
};

fn status(status: PetStatus) -> &'static str {
    match status {
        PetStatus::Available => "Available",
        PetStatus::Pending => "Reserved",
        PetStatus::Sold => "Sold",
    }
}

fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "Reserved",
        OrderStatus::Completed => "Sold",
        OrderStatus::Cancelled => "Cancelled",
        OrderStatus::Expired => "Expired",
        OrderStatus::Returned => "Returned",
    }
}

fn reason(reason: WithdrawalReason) -> &'static str {
    match reason {
        WithdrawalReason::Died => "Died",
        WithdrawalReason::Transferred => "Transferred elsewhere",
        WithdrawalReason::Reclaimed => "Reclaimed by owner",
        WithdrawalReason::Mistake => "Added by mistake",
        WithdrawalReason::Other => "Other reason",
    }
}

fn change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Added",
        ChangeType::PetChanged => "Changed",
        ChangeType::PetWithdrawn => "Departure recorded",
        ChangeType::PetRestored => "Restored",
        ChangeType::OrderPlaced => "Reserved",
        ChangeType::OrderChanged => "Order changed",
        ChangeType::OrderCompleted => "Sold",
        ChangeType::OrderCancelled => "Reservation cancelled",
        ChangeType::OrderExpired => "Reservation expired",
        ChangeType::OrderReturned => "Returned",
        ChangeType::OrderReopened => "Reserved again",
        ChangeType::CategoryChanged => "Category added or renamed",
        ChangeType::CategoryDeleted => "Category deleted",
        ChangeType::NoteAdded => "Note added",
        ChangeType::NoteChanged => "Note corrected",
        ChangeType::NoteDeleted => "Note deleted",
        ChangeType::PetsImported => "Imported",
    }
}

fn animals(count: usize) -> String {
    if count == 1 {
        "1 animal".to_owned()
    } else {
        format!("{} animals", in_digits(count))
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Available => "It is available.".to_owned(),
        PetStatus::Pending => "It is already reserved.".to_owned(),
        PetStatus::Sold => "It is already sold.".to_owned(),
    }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Animal added",
        ChangeType::PetChanged => "Animal changed",
        ChangeType::PetRestored => "Departure undone",
        ChangeType::PetsImported => "Animals imported",
        ChangeType::OrderPlaced => "Animal reserved",
        ChangeType::OrderCompleted => "Animal sold",
        ChangeType::OrderReturned => "Animal returned",
        ChangeType::OrderReopened => "Order reopened",
        other => change(other),
    }
}

fn days(count: u64) -> String {
    if count == 1 {
        "1 day".to_owned()
    } else {
        format!("{count} days")
    }
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Sold by mistake? Change it to a reservation",
        OrderStatus::Cancelled => "Cancelled by mistake? Change it to a reservation",
        _ => "Change it to a reservation",
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    let is = order_state(status);
    format!("Order {id} {is}. Nothing was changed this time.")
}

fn order_state(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "is still a reservation",
        OrderStatus::Completed => "is a sale, and the animal has been changed since",
        OrderStatus::Cancelled => "is already cancelled",
        OrderStatus::Expired => "has expired",
        OrderStatus::Returned => "has already been returned",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Clerk => "clerk",
        Role::Manager => "manager",
    }
}

fn what_role_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer: can only view",
        Role::Clerk => "Clerk: can change animals and orders",
        Role::Manager => {
            "Manager: can also see the activity and change all settings, including staff and API keys"
        }
    }
}

fn span(count: i64, unit: Unit) -> String {
    let unit = match unit {
        Unit::Minute => "minute",
        Unit::Hour => "hour",
        Unit::Day => "day",
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// The English texts of the pages for the staff that a shelter has in other words than a shop.
pub(crate) mod shelter {
    use super::{animals, days};
    use crate::console::Texts;
    use petstore_domain::{
        PetStatus, Role, Scope,
        store_area::{ActType, ChangeType, OrderStatus, SubjectKind, WithdrawalReason},
    };

    pub(crate) static TEXTS: Texts = Texts {
        reference_hint: "Your own number, such as a contract or receipt number. Do not enter the adopter’s name.",
        placed_at: "Created",
        sold_at: "Adopted on",
        sold_today: "Adopted today",
        all_sales: "All adoptions",
        sell_more: "Mark as adopted…",
        sell: "Mark as adopted",
        sell_now: "Mark as adopted now",
        withdrawn: "Left the shelter",
        is_withdrawn: "It has left the shelter. Restore it first.",
        withdraw_animal: |name| format!("Record {name} as having left the shelter?"),
        withdraw_animals: |count, why| {
            format!(
                "Record {} as having left the shelter ({})?",
                animals(count),
                reason(why).to_lowercase()
            )
        },
        take_back_hint: "For an animal that the adopter has brought back. It becomes available again.",
        sold_without_order: "It was marked as adopted directly, without a date or an adopter. To correct this, edit its status.",
        pending_without_order: "It was marked as reserved directly, so the reservation has no end. Reserve it here to set one, mark it as adopted, or edit its status.",
        find_order: "Find an adoption by adopter, telephone, animal, reference or number",
        find_order_by_animal: "Find an adoption by animal, reference or number",
        orders: "Adoptions",
        order: "Adoption",
        before_number: ["#", "no.", "no", "number", "animal", "adoption"],
        no_orders: "No adoptions here",
        no_order_found: "No adoptions found",
        no_order: "No adoption has this number.",
        search_orders: |typed| format!("Search the adoptions for “{typed}”"),
        title_of_order: |id| format!("Adoption {id}"),
        this_order: |id| format!("adoption {id}"),
        is_reserved: |order| format!("It is reserved (adoption {order})."),
        animal_is_reserved: |order| format!(" The animal is reserved (adoption {order})."),
        cancels: |order| {
            format!("The animal is reserved. Its reservation (adoption {order}) will be cancelled.")
        },
        status_held: "The animal belongs to an adoption. To change its status, open the adoption.",
        change_order: "Change the adoption",
        extend_or_change: "Extend the reservation or change the details",
        order_before: "Previous adoption",
        show_order: "Show the adoption",
        reserved_as: |order| format!("Reserved (adoption {order})."),
        only_newest: |searched| {
            format!(
                "Only the newest {searched} adoptions, and the first animals with this name, were searched."
            )
        },
        orders_found: |count, has_more| {
            let more = if has_more { " or more" } else { "" };
            let adoptions = if count == 1 && !has_more {
                "adoption"
            } else {
                "adoptions"
            };
            format!("{count}{more} {adoptions}")
        },
        no_orders_hint: "Open an animal to reserve it or mark it as adopted.",
        signature: "Signed by the adopter",
        signature_of_store: "Signed on behalf of the shelter",
        contract_heading: "Adoption contract",
        store: "Shelter",
        links_hint: "They appear at the bottom of every public page: your privacy policy, for example, or how to adopt an animal.",
        change_store: "Edit the details of the shelter",
        store_labels: "Field labels in the language of the shelter",
        language_of_store: |name| format!("Same as the shelter ({name})"),
        status_invalid: "The status must be available, reserved or adopted.",
        member_about: [
            super::TEXTS.member_about[0],
            super::TEXTS.member_about[1],
            "The text about the shelter must have at most 2,000 characters. Shorten it, or leave it empty.",
        ],
        member_contract: [
            super::TEXTS.member_contract[0],
            "Printed below the details of the adoption, above the lines for signatures. It does not appear on the website. You can use these placeholders: {animal} for the animal’s name, {store} for the name of the shelter, {microchip} for the microchip number, {fee} for the adoption fee, {adopter} for the adopter’s name, {date} for the date of the adoption, or today’s date if there is none yet. Anything missing becomes a blank line to fill in. Leave an empty line between paragraphs; at most 4,000 characters.",
            super::TEXTS.member_contract[2],
        ],
        reason,
        act: |kind| match kind {
            ActType::ProfileChanged => "Shelter details changed",
            other => super::TEXTS.act(other),
        },
        subject: |kind| match kind {
            SubjectKind::Profile => "Shelter details",
            SubjectKind::Order => "Adoption",
            other => super::TEXTS.subject(other),
        },
        scope: |scope| match scope {
            Scope::StoreRead => "View animals and adoptions (without adopters’ details)",
            Scope::StoreWrite => "View and change animals and adoptions (with adopters’ details)",
            Scope::StoreAdmin => {
                "Everything, including fields, webhooks, activity and the shelter’s details"
            }
            other => super::TEXTS.scope(other),
        },
        any_status: "In the shelter",
        also_sold: "In the shelter or adopted",
        add_sold: "Include adopted animals",
        reserve_or_sell: "Reserve or mark as adopted…",
        price: "Adoption fee",
        contact: "Adopter",
        contact_changed: "Adopter changed or deleted",
        price_of_each: "Adoption fee for each animal (leave empty to use each animal’s own)",
        status: |status| {
            if status == PetStatus::Sold {
                "Adopted"
            } else {
                super::status(status)
            }
        },
        order_status,
        change: |kind| match kind {
            ChangeType::OrderCompleted => "Adopted",
            ChangeType::OrderChanged => "Adoption changed",
            other => super::change(other),
        },
        audited_change: |kind| match kind {
            ChangeType::OrderCompleted => "Animal adopted",
            ChangeType::OrderReopened => "Adoption reopened",
            ChangeType::OrderChanged => "Adoption changed",
            other => super::audited_change(other),
        },

        is_in_status: |status| match status {
            PetStatus::Sold => "It is already adopted.".to_owned(),
            other => super::is_in_status(other),
        },
        contact_of: |_| TEXTS.contact,
        contact_hint: |kept| {
            format!(
                "For example, a name and a telephone number. These details are deleted {} after the adoption or the end of the reservation.",
                days(kept)
            )
        },
        no_order_found_hint: |kept| {
            format!(
                "Check the spelling. When an adoption is closed, the adopter’s details are kept for {}.",
                days(kept)
            )
        },
        sum_of: |status, count, sum| {
            let what = match (status, count) {
                (OrderStatus::Completed, 1) => "adoption",
                (OrderStatus::Completed, _) => "adoptions",
                (_, 1) => "reservation",
                _ => "reservations",
            };
            format!("{count} {what} with a fee, {sum} in total")
        },
        reopen: |status| match status {
            OrderStatus::Completed => "Marked as adopted by mistake? Change it to a reservation",
            other => super::reopen(other),
        },
        order_is: |id, status| {
            let is = match status {
                OrderStatus::Completed => "is complete, and the animal has been changed since",
                other => super::order_state(other),
            };
            format!("Adoption {id} {is}. Nothing was changed this time.")
        },
        sell_animals: |count| format!("Mark {} as adopted?", animals(count)),
        sold_as: |order| format!("Adopted (adoption {order})."),
        sale_undone: "The adoption has been undone.",
        what_role_may: |role| match role {
            Role::Clerk => "Clerk: can change animals and adoptions",
            other => super::what_role_may(other),
        },
        ..super::TEXTS
    };

    fn order_status(status: OrderStatus) -> &'static str {
        if status == OrderStatus::Completed {
            "Adopted"
        } else {
            super::order_status(status)
        }
    }

    fn reason(reason: WithdrawalReason) -> &'static str {
        match reason {
            WithdrawalReason::Transferred => "Transferred to another rescue",
            other => super::reason(other),
        }
    }
}
