//! The texts of the pages for the staff.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::borrow::Cow;

use maud::Markup;
use petstore_domain::{
    PetStatus, Problem, Role, Scope,
    staff::WeakPassword,
    store_area::{
        ActType, ChangeType, DisabledReason, FieldKind, OrderStatus, PictureProblem, StoreKind,
        SubjectKind, WithdrawalReason,
    },
};

use super::declaration::{Unit, texts};

/// A function that selects a text. Static tables contain it in place of a text, because their language
/// is only known during a request.
pub type Label = fn(&Texts) -> &'static str;

texts! {
    /// The language tag of the texts, such as `en-GB`. Scripts also use it to format times.
    language;
    site;
    skip;
    main_menu;
    sign_out;
    today;
    animals_heading;
    add;
    orders;
    activity;
    website;
    public_page;
    settings;
    categories;
    webhooks;
    error_prefix;
    problem_heading;
    cancel;
    /// The button that leaves a confirmation page. Not "Cancel", which would be ambiguous, because many
    /// questions are about a cancellation.
    go_back;
    next_page;
    first_page;
    no_name;
    actions;

    // Values.
    name;
    number;
    category_number_label;
    category;
    status_label;
    added_at;
    changed_at;
    /// Stands for a member of the staff whose name is unknown.
    staff_member;
    program(name: &str) -> String;
    a_program;
    the_service;
    the_operator;
    reference;
    reference_hint;
    note;
    reason_label;
    optional;
    until;
    category_hint;
    animal;
    order;
    placed_at;
    ends;
    /// The heading of a column with the ends of reservations and the times of closed orders.
    ends_or_closed;
    closed_at;
    sold_at;
    /// The prefixes that people may type before a number, in lower case.
    before_number: [&'static str; 6];

    // Today.
    find_label;
    find;
    ending_today;
    ending_tomorrow;
    ending_later;
    call;
    ending;
    none_ending;
    sold_today;
    all_sales;
    incomplete;
    no_photo;
    no_chip;
    newest_animals;
    /// The size of a truncated list, such as `10 of 25`.
    shown_of(shown: usize, count: &str) -> String;
    counting;
    all_reservations;
    empty_store;
    empty_store_hint;
    add_animals;
    numbers;
    first_steps;
    step_store;
    step_animal;
    step_import;
    step_colleague;
    step_window;
    no_steps;

    // Animal.
    edit;
    save;
    reserve_more;
    sell_more;
    reserve;
    sell;
    sell_now;
    cancel_reservation;
    /// Expands the form for the return of a sold animal.
    take_back_more;
    take_back;
    take_back_hint;
    /// The checkbox that also records a new intake of a returned animal, with today as its day.
    new_intake;
    sold_without_order;
    pending_without_order;
    withdraw;
    withdraw_more;
    withdraw_hint;
    restore;
    restore_hint;
    choose;
    history;
    older;
    no_history;
    /// The label of the input for a new note, and its hint about who can see notes.
    new_note;
    new_note_hint;
    add_note;
    correct_note;
    /// The heading of the page of a note.
    note_on(animal: &str) -> String;
    note_corrected;
    note_corrected_by(name: &str) -> String;
    note_missing;
    no_note;
    not_your_note;
    too_many_notes;
    delete_note;
    delete_note_question;
    delete_note_effect;
    note_was_added;
    note_was_changed;
    note_was_deleted;
    /// Expands the full text that a change replaced. Only its beginning is shown otherwise.
    whole_before;
    status_held;

    // Conflict.
    conflict;
    conflict_hint;
    theirs;
    yours;
    save_mine;
    keep_theirs;
    different;

    // Add.
    add_one;
    add_many;
    add_animal;
    add_to_number;
    paste;
    paste_hint;
    preview;
    line;
    check;
    fine;
    preview_hint;
    change_lines;
    preview_again;

    // Orders.
    find_order;
    find_order_by_animal;
    no_orders;
    no_orders_hint;
    no_order_found;
    all;
    print;
    /// The label of the line above the signatures on a printed order.
    place_and_date;
    signature;
    signature_of_store;
    /// The heading of the contract on a printed order, and the labels of the lines that the customer
    /// fills in.
    contract_heading;
    contract_name;
    contract_address;
    unknown_placeholder(name: &str) -> String;
    shown_here;
    only_first;

    // Problems.
    no_pet;
    no_order;
    not_found;
    name_too_long;
    name_missing;
    category_missing;
    status_invalid;
    reason_missing;
    day_invalid;
    none_selected;
    nothing_pasted;
    stale;
    nothing_changed;
    /// Introduces the animals that are left out of an undo, because somebody has changed them since.
    undone_without;
    status(status: PetStatus) -> &'static str;
    withdrawn;
    /// The label below the number of animals that have left.
    departures;
    /// The label of the filter for animals that have left.
    withdrawn_filter;
    /// The label below the number of animals in a status, such as "Reserved". Some languages inflect it
    /// by the number.
    status_below(count: u64, status: &'static str) -> Cow<'static, str>;
    overdue;
    order_status(status: OrderStatus) -> &'static str;
    reason(reason: WithdrawalReason) -> &'static str;
    /// How the history names two special changes: a new end of a reservation, and a new name of a category.
    extended;
    renamed;
    /// How the history of an animal names a kind of change.
    change(kind: ChangeType) -> &'static str;
    /// A number of animals, such as `3 animals`.
    animals(count: usize) -> String;
    /// An inexact number of animals, such as `More than 1,000 animals`.
    more_than(count: usize) -> String;
    /// Says how many animals a page of a list shows, if their total number is unknown.
    first_shown(count: usize) -> String;
    title_of_order(id: i64) -> String;
    /// An order within a sentence, such as `order 7`.
    this_order(id: i64) -> String;
    /// An enumeration of labels, such as "Reference and note".
    labels(all: &[&str]) -> String;
    /// The error for a text with more than `most` characters.
    too_long(label: &str, most: usize) -> String;
    /// The error for a form with more than `most` fields.
    form_too_large(most: usize) -> String;
    select(name: &str) -> String;
    add_count(count: usize) -> String;
    wrong_lines(count: usize) -> String;
    add_with_category(label: &str) -> String;
    unknown_category(text: &str) -> String;
    ambiguous_category(text: &str, one: i64, other: i64) -> String;
    /// The prefix before the number of a category without a name. Also recognized in input.
    category_prefix;
    category_number(id: i64) -> String;
    /// Names who last changed an animal.
    changed_by(name: &str) -> String;
    is_withdrawn;
    /// The confirmation question for a withdrawal that has further effects.
    withdraw_animal(name: &str) -> String;
    has_no_reservation;
    is_gone;
    is_reserved(order: i64) -> String;
    /// The hint after an error about an order, if another order holds the animal.
    animal_is_reserved(order: i64) -> String;
    is_in_status(status: PetStatus) -> String;

    // Categories.
    no_categories;
    no_categories_hint;
    name_category_heading;
    category_number_hint;
    label_missing;
    label_invalid;
    no_free_number;
    number_invalid;

    // Adding one animal.
    category_of_species;
    species_or_category;
    or_about;
    about_hint;
    /// The units that people type for years, months and weeks in an age, each separated by spaces.
    ages_typed: [&'static str; 3];
    age_invalid;
    birth_too_early;
    born_or_age;

    // Fields and their values.
    fields;
    fields_hint;
    more_fields;
    any_value;
    no_value;
    field_label;
    field_label_hint;
    field_name;
    field_name_hint;
    field_name_invalid;
    field_name_taken;
    field_label_taken;
    field_kind;
    choose_kind;
    field_label_invalid;
    field_kind_missing;
    field_choices;
    more_choices;
    remove_choice;
    field_labels_hint;
    field_labels_invalid;
    field_choices_hint;
    field_choices_invalid;
    field_position;
    field_position_hint;
    field_position_invalid;
    field_public;
    field_public_hint;
    field_unique;
    field_unique_hint;
    add_field;
    delete_field;
    field_deleted_effect;
    birth_invalid;
    no_field;
    field_in_use;
    too_many_fields;
    field_changed;
    /// The confirmation questions for a change of a field with a single effect on animals.
    delete_choice(choice: &str) -> String;
    show_field(label: &str) -> String;
    /// The confirmation question for a change of a field with several effects on animals.
    change_field(label: &str) -> String;
    /// The effect of deleting a choice that animals have. If `count` exceeds `most`, it is only a lower
    /// bound.
    choice_in_use(count: usize, most: usize, choice: &str) -> String;
    /// The effect of making a field public: how many animals have a value in it. With `has_more`, not
    /// all animals were counted.
    becomes_public(count: usize, has_more: bool) -> String;
    /// The name of a kind of fields, and the hint for its input.
    kind(kind: FieldKind) -> (&'static str, &'static str);
    /// An animal with its name and number, within a sentence.
    animal_with_number(name: &str, number: i64) -> String;
    /// The error if the animal `other` already has this value of the unique field `label`.
    value_taken(label: &str, other: &str) -> String;
    other_new;
    /// The link to the page of an animal.
    show_animal(other: &str) -> String;
    /// Introduces a list of animals that have the same value of the unique field `label`.
    shared_value(label: &str) -> String;
    /// The error if somebody deleted the field while a value was typed into it.
    field_removed(label: &str, typed: &str) -> String;
    /// The error if somebody removed a choice of a field while it was selected.
    choice_removed(label: &str, chosen: &str) -> String;
    number_shortened(typed: &str) -> String;
    /// The error for a cell that contains a spreadsheet error such as `#REF!`.
    spreadsheet_error(cell: &str) -> String;

    // The list of animals, and the bar of actions for selected animals.
    /// The two states of an animal on the website, in forms, in the list, and in the history.
    on_website;
    not_on_website;
    listing_invalid;
    website_hint;
    /// Expands the website actions for the selected animals, and the two buttons.
    website_more;
    put_on_website;
    take_off_website;
    any_status;
    also_sold;
    filter;
    filters;
    add_sold;
    take_off;
    show;
    any_category;
    nothing_found;
    /// Replaces `nothing_found` if lists of other statuses have matches, above the links to them.
    none_here;
    nothing_found_hint;
    /// Replaces `nothing_found` if only filters are set, and no search text.
    none_match;
    search_orders(typed: &str) -> String;
    select_all;
    skip_list;
    with_selected;
    all_or_none;
    reserve_or_sell;
    move_more;
    move_label;
    value_more;
    new_value;
    value_hint;
    field_of_animals;
    choose_field;
    field_missing;
    cancel_reservations;
    clear;
    /// The text of the chip for an active filter.
    chip(label: &str, value: &str) -> String;
    too_many_filters(most: usize, left_out: &str) -> String;

    // Pages for managers.

    // Activity.
    export;
    no_activity;
    no_activity_hint;
    no_activity_yet;
    no_activity_yet_hint;
    since;
    up_to;
    animal_number;
    any_type;
    when;
    who;
    what;
    about;
    difference;
    export_cut;
    /// The last row of an export that was truncated because the list is too long.
    list_export_cut;
    /// How the audit trail names a kind of change, understandable without the context of an animal.
    audited_change(kind: ChangeType) -> &'static str;
    act(kind: ActType) -> &'static str;
    subject(kind: SubjectKind) -> &'static str;

    // Webhooks.
    webhooks_hint;
    no_webhooks;
    no_webhooks_hint;
    no_webhook;
    add_webhook;
    address;
    address_hint;
    description;
    sends;
    sends_hint;
    every_change;
    works;
    not_used;
    url_missing;
    url_invalid;
    fails;
    off;
    fails_since;
    attempts;
    no_attempts;
    result;
    duration;
    delivered;
    failed;
    test;
    test_hint;
    enable;
    enable_hint;
    enable_now;
    enable_now_hint;
    disable;
    block_member;
    disable_hint;
    rotate;
    rotate_hint;
    delete;
    delete_webhook;
    delete_hint;
    secret;
    secret_hint;
    too_many_webhooks;
    failing_webhooks(count: usize) -> String;
    show_webhooks;
    disabled(reason: DisabledReason) -> &'static str;

    // Orders.
    price;
    contact;
    /// The label of the customer's contact on an order in this status.
    contact_of(status: OrderStatus) -> &'static str;
    contact_hint(days: u64) -> String;
    no_order_found_hint(days: u64) -> String;
    only_newest(searched: usize) -> String;
    orders_found(count: usize, has_more: bool) -> String;
    /// How many orders in this status have a price, and the sum of the prices.
    sum_of(status: OrderStatus, count: usize, sum: &str) -> String;
    text_too_long;
    contact_changed;
    change_order;
    extend_or_change;
    price_invalid;
    /// The error for an ambiguous text, with its two meanings and an unambiguous spelling of each. An
    /// example is a number whose only point or comma can separate thousands or decimals.
    ambiguous(typed: &str, meanings: [&str; 2], spellings: [&str; 2]) -> String;
    /// The button that reopens an order that was closed by mistake.
    reopen(status: OrderStatus) -> &'static str;
    typed_here;
    /// Precedes the time at which an order was placed, by an unknown or a known actor.
    that_was;
    did_that(name: &str) -> String;
    /// The label of the previous order, on the page of an available animal.
    order_before;
    /// The label of the price input for a sale of several animals.
    price_of_each;
    order_is(id: i64, status: OrderStatus) -> String;

    // Photos.
    manage_photos;
    to_animal;
    add_photos;
    photos_hint;
    upload;
    save_texts_first;
    make_main;
    move_up;
    move_down;
    turn_left;
    turn_right;
    look_more;
    look_hint;
    /// The choices for the focus of a photo, which stays in view when the photo is cropped. The first
    /// means none.
    points: [&'static str; 10];
    look_at_pressed;
    /// The texts of the script that uploads pictures.
    uploads: [&'static str; 16];
    photos;
    photos_after;
    take_photo;
    no_picture;
    picture_too_large;
    too_many_pictures;
    photos_not_added;
    heic;
    another_member;
    too_many_photos;
    photo_is_gone;
    photo_not_kept;
    put_back;
    photo_added;
    photo_turned;
    photo_deleted;
    photos_moved;
    photo_focused;
    photo_described;
    photo_file_missing;
    /// The alt text of a photo: `alt` if it has one, or else a default.
    photo_of(number: usize, animal: &str, alt: Option<&str>) -> String;
    /// A photo within a sentence.
    this_photo(number: usize, animal: &str) -> String;
    /// The title of the page with the photos of an animal.
    photos_of(animal: &str) -> String;
    /// The label of the dropdown for the focus of a photo.
    look_at(number: usize) -> String;
    /// The label of the input for the alt text of a photo.
    alt_of(number: usize) -> String;
    /// The accessible name of a button, with the number of the photo to which it belongs.
    photo_button(label: &str, number: usize) -> String;
    /// The error if photos that were sent with a form can no longer be added.
    photos_lost(count: usize) -> String;
    photos_added(count: usize) -> String;

    // Confirmation questions before an action, and messages after it.

    // Categories.
    more_categories;
    name_it;
    rename_category(old: &str, new: &str) -> String;
    name_category(id: i64, label: &str) -> String;
    category_has(count: usize) -> String;
    label_taken(label: &str, id: i64) -> String;
    cancels(order: i64) -> String;

    // Several animals at once.
    change_verb;
    /// The confirmation questions for actions on several animals.
    move_animals(count: usize, category: &str) -> String;
    change_animals(count: usize, label: &str, value: &str) -> String;
    clear_animals(count: usize, label: &str) -> String;
    reserve_animals(count: usize, end: &str) -> String;
    sell_animals(count: usize) -> String;
    cancel_reservations_of(count: usize) -> String;
    withdraw_animals(count: usize, why: WithdrawalReason) -> String;
    list_animals(count: usize) -> String;
    unlist_animals(count: usize) -> String;

    // Pasted lines.
    no_heading;
    several_lines;
    quote_not_closed;
    columns;
    leave_out;
    first_line;
    first_line_is: [&'static str; 2];
    first_line_has_headings;
    /// Says that the preview reads the first line as an animal.
    first_line_counts;
    /// The heading above the dropdowns for columns whose headings are not recognized.
    unknown_columns;
    /// Replaces a message that several lines share, and that is shown once above them.
    see_above;
    lines_with(numbers: &str) -> String;
    /// The label of the dropdown for the cell separator, whose choices are [`Texts::separators`].
    separator;
    /// A comma, a semicolon, a tab.
    separators: [&'static str; 3];
    /// Says that rows above the headings were not imported. `titles` quotes them.
    titles_left_out(titles: &str) -> String;
    column_ambiguous(heading: &str, one: &str, other: &str) -> String;
    column(heading: &str) -> String;
    chosen_twice(label: &str) -> String;
    column_missing(label: &str) -> String;
    left_out(headings: &str) -> String;
    left_out_hint;
    column_number(number: usize) -> String;
    leave_out_first;
    first_lines(taken: usize, rest: usize) -> String;
    lines_added(added: usize) -> String;
    on_line(number: usize, why: &str) -> String;
    no_category(number: i64) -> String;
    no_choice(typed: &str, choices: &str) -> String;

    // Settings.
    make_link;
    revoke_effect;
    really(verb: &str, what: &str) -> String;
    disable_member(name: &str) -> String;
    change_role;
    role_becomes(name: &str, old: Role, new: Role) -> String;
    reset_member(name: &str) -> String;

    // Forms that several people fill in.
    /// Says that somebody else has changed a value since the form was loaded.
    now_changed(label: &str, now: &str, was: Option<&str>) -> String;

    // Forms that outlived their session.
    form_of_another;
    somebody;
    form_of(owner: &str, you: &str) -> String;
    send_as(you: &str) -> String;

    // After something was done.
    /// The button that undoes the action.
    undo;
    /// The error if an action cannot be undone, because it is too old or not in the journal.
    not_undoable;
    show_order;
    add_another;
    reserved_as(order: i64) -> String;
    sold_as(order: i64) -> String;
    added_as(animal: i64) -> String;
    added_about(animal: i64) -> String;
    added_many(count: usize) -> String;
    changed_many(count: usize) -> String;
    undone_many(count: usize) -> String;
    reservation_cancelled;
    sale_undone;
    taken_back;
    photo_was_removed;
    photo_was_turned;
    photo_is_back;
    reservation_extended;
    saved;
    undone;
    was_withdrawn;
    was_restored;
    was_deleted;
    webhook_disabled;
    webhook_enabled;
    webhook_tested;
    password_changed;
    session_ended;
    second_factor_removed;
    role_changed;
    member_disabled;
    key_revoked;

    // Pages for signing in and for managing accounts, staff and API keys; rejected requests; and open pages.

    // Signing in.
    sign_in;
    password;
    code;
    continue_label;
    sign_in_wrong;
    code_hint;
    code_wrong;
    sign_in_ended;
    form_saved;
    form_too_long;
    form_not_of_browser;
    no_password;
    submit_saved_form_hint;
    submit_saved_form;
    discard_saved_form;
    changed_meanwhile;

    // Signing in with an identity provider, which is named by its host.
    provider;
    link_needed;
    no_passwords;
    sign_in_elsewhere;
    access_disabled;
    signed_in;
    signed_in_hint;
    signed_out_title;
    role_of_provider;
    enter_once;
    sign_in_at(host: &str) -> String;
    sign_in_in_new_tab(host: &str) -> String;
    provider_unreachable(host: &str) -> String;
    provider_invalid(host: &str) -> String;
    sign_in_stopped(host: &str) -> String;
    no_role(host: &str) -> String;
    identity_of_another(host: &str) -> String;
    sign_out_at(host: &str) -> String;
    signed_out_hint(host: &str) -> String;
    signs_in_at(host: &str) -> String;
    link_to_provider(host: &str) -> String;
    enter_once_hint(host: &str) -> String;

    // Passwords and links.
    choose_password;
    new_password;
    new_password_again;
    new_password_hint;
    passwords_different;
    save_password;
    link_invalid;
    link_invalid_hint;

    // Account.
    account;
    current_password;
    change_password;
    current_password_wrong;
    sessions;
    only_last_sessions;
    language_label;
    language_of_store(name: &str) -> String;
    own_sessions;
    browser_label;
    ip_address;
    last_used;
    this_session;
    browser_on(browser: &str, system: &str) -> String;
    end_session;

    // The second factor.
    second_factor;
    second_factor_off;
    second_factor_required;
    second_factor_stays;
    second_factor_set;
    set_up;
    change_second_factor;
    remove_second_factor;
    without_second_factor;
    set_up_app;
    open_app;
    scan;
    qr_code;
    app_code;
    use_app;
    app_code_wrong;
    recovery_codes;
    new_codes_hint;
    new_codes;
    codes_replaced;
    codes_hint;
    codes_kept;

    // Passkeys.
    passkey;
    passkeys;
    passkeys_short;
    change_passkeys;
    passkeys_hint;
    passkey_name;
    passkey_name_invalid;
    add_passkey;
    passkeys_full;
    passkeys_elsewhere;
    sign_in_with_passkey;
    passkey_needed;
    passkey_script;
    passkey_unsupported;
    passkey_stopped;
    passkey_known;
    passkey_late;
    passkey_rejected;
    passkey_of_another;
    passkey_unusable;
    passkey_added;
    passkey_removed;
    passkey_count;

    // Staff.
    staff;
    role_label;
    state;
    you;
    add_member;
    password_again;
    add_member_button;
    member_name_hint;
    member_name_invalid;
    member_name_taken;
    too_many_members;
    own_access;
    new_link;
    disabled_state;
    active;
    active_with_second_factor;
    has_link;
    link_expired;
    link;
    copy;
    /// The text of the copy button after it has copied.
    copied;
    /// The button that continues after a secret, which is shown only once, has been copied.
    secret_kept;

    // API keys.
    keys;
    add_key;
    key_name_hint;
    key_name_invalid;
    allows;
    what_key_allows;
    never;
    called_get_pet;
    revoked;
    expired;
    valid_until;
    valid;
    rotate_key;
    revoke_key;
    key_not_rotated;
    new_key;
    new_key_hint;

    // Requests that are rejected.
    incomplete_form;
    body_too_large;
    not_accepted;
    not_allowed;
    /// The error for a request to a host at which the console is not served. `expected` is the host of
    /// `--console-url`, or empty if it is not set.
    foreign_host(host: &str, expected: &str) -> String;
    needs_https;
    foreign_form;
    /// The error for a form that came from the site `origin` instead of the console's own origin.
    foreign_origin(origin: &str, own: &str) -> String;
    connection_replaced;
    to_first_page;
    request;

    // Open pages.
    page_changed;
    offline;
    connection_lost;
    signed_out;
    show_change;
    show_changes;
    reload;
    more_follow;
    not_in_text;
    /// The sort orders of the list of animals.
    newest_first;
    by_name;
    by_price(price: &str) -> String;
    youngest_first;
    too_many_to_sort(most: usize) -> String;
    /// The heading of the column with how long an animal has been here.
    stay;
    longest_first;
    too_many_attempts(minutes: u64) -> String;
    weak(weak: WeakPassword) -> String;
    welcome(name: &str) -> Markup;
    you_are(name: &str, of: Role) -> Markup;
    second_factor_on(recovery_codes: usize) -> String;
    /// Completes the accessible name of a button for screen readers; the visible part is only the verb.
    session_in(browser: &str) -> String;
    for_member(name: &str) -> String;
    role_of(name: &str) -> String;
    give_link(name: &str) -> Markup;
    role(role: Role) -> &'static str;
    what_role_may(role: Role) -> &'static str;
    scope(scope: Scope) -> &'static str;
    /// The texts of an error page: the title, what is wrong, and what to do next. If the second is
    /// `None`, the page shows the message of the error, or a general one.
    problem(problem: Problem) -> (&'static str, Option<&'static str>, &'static str);

    // The store.
    logo;
    upload_logo;
    logo_hint;
    logo_missing;
    logo_invalid;
    logo_too_flat;
    /// The error for a picture that cannot become a photo or logo.
    picture_problem(problem: PictureProblem) -> String;
    remove_logo;
    logo_removed_effect;
    as_shown;
    see_website;
    /// The hint that names the operator's setting, which applies while the store has no value of its own.
    operator_value(value: &str) -> String;
    no_currency;
    /// The hint that says what the console and the website show while the store has no name.
    nameless(console: &str, website: &str) -> String;
    default_is(value: &str) -> String;
    store;
    change_store;
    store_hint;
    who_you_are;
    how_to_reach_you;
    pages_heading;
    paper_heading;
    links;
    links_hint;
    more_links;
    not_chosen;
    store_stale;
    link_label_invalid;
    link_url_invalid;
    several_urls;
    pick_colour;
    link_label(number: usize) -> String;
    link_url(number: usize) -> String;
    /// The texts for each member of the profile: its label, its hint, and the error for an invalid value.
    member_name: [&'static str; 3];
    member_kind: [&'static str; 3];
    member_about: [&'static str; 3];
    member_contract: [&'static str; 3];
    member_email: [&'static str; 3];
    member_telephone: [&'static str; 3];
    member_contact_page: [&'static str; 3];
    member_address: [&'static str; 3];
    member_hours: [&'static str; 3];
    member_language: [&'static str; 3];
    member_time_zone: [&'static str; 3];
    member_currency: [&'static str; 3];
    member_colour: [&'static str; 3];
    /// The group label above the time zone of the browser's device.
    zone_of_device;
    /// The group labels of time zones: Africa, America, Antarctica, the Arctic, Asia, the Atlantic,
    /// Australia, Europe, the Indian Ocean, the Pacific.
    zone_regions: [&'static str; 10];
    store_kind(kind: StoreKind) -> &'static str;

    // Relative times.
    just_now;
    tomorrow;
    yesterday;
    ago(count: i64, unit: Unit) -> String;
    ahead(count: i64, unit: Unit) -> String;
    soon;
    /// The warning while the service doubts the system clock. In `hours`, it will accept it.
    doubted_clock(now: &str, confirmed: &str, hours: i64) -> String;
    /// The heading of the offer to add the fields that a shelter needs and a new store lacks.
    shelter_fields;
    shelter_fields_hint;
    add_shelter_fields;
    /// The sort order by the field for the place of an animal, whose label is `place`.
    by_place(place: &str) -> String;
    store_labels;
    store_labels_hint;
    labels_with_language;
    write_labels;
    // Automatic backups.
    no_backup;
    old_backup(at: &str) -> String;
}
