//! Values and rules of the store area: versioned animals, orders and categories, and the commands
//! that change them.
//!
//! Every change goes through [`decide()`], which is independent of HTTP and SQL. In one transaction,
//! a store reads the [`PresentState`] of a command's subject, calls [`decide()`], and writes the
//! resulting changes.
//!
//! The store records each change in the journal (see [`JournalEntry`]), from which programs read
//! changes and webhooks deliver them. A [`Reversal`] undoes changes with the help of the journal.

mod act_reversal;
mod age;
mod category;
mod category_rules;
mod change;
mod choices;
mod command;
mod compact_key;
mod contact_url;
mod contract_text;
mod date_range;
mod decide;
mod decimal;
mod everyday;
mod field;
mod field_labels;
mod field_rules;
mod field_values;
mod journal;
mod kind;
mod language;
mod logo;
mod name_key;
mod note_rules;
mod order;
mod order_checks;
mod order_rules;
mod patch;
mod pet_note;
mod pet_rules;
mod photo;
mod photo_file;
mod photo_rules;
mod phrase;
mod picture_problem;
mod preconditions;
mod profile;
mod profile_rules;
mod profile_texts;
mod query;
mod refusal;
mod resource;
mod reversal;
mod revert_rules;
mod revert_steps;
mod rules;
mod shelter_fields;
mod spelling;
mod store_pet;
mod stored_text;
mod time_zone;
mod unique_value;
mod valid_text;
mod value_filter;
mod value_rules;
mod webhook;
mod webhook_id;

pub use age::Age;
pub use category::{Category, Label};
pub use change::{Change, ChangeType, Decision, PresentState};
pub use choices::Choices;
pub use command::{Command, NoteEdit, PhotoPatch, Subject};
pub use compact_key::{compact_key, is_shortened_number};
pub use contact_url::ContactUrl;
pub use contract_text::{ContractText, Placeholder, unknown_placeholder};
pub use date_range::DateRange;
pub use decide::decide;
pub use decimal::{Currency, Decimal};
pub use everyday::{EverydayWord, Property};
pub use field::{FieldDefinition, FieldName, FieldSet};
pub use field_labels::{FieldLabels, relabel};
pub use field_rules::{FieldChange, FieldCommand, FieldDecision, FieldRefusal, decide_field};
pub use field_values::{FieldPatch, FieldProblem, FieldValues, RequestedValue};
pub use journal::{
    Act, ActType, AuditEntry, AuditPosition, AuditQuery, AuditType, ChangePage, Epoch,
    JournalEntry, JournalState, JournalSubject, SubjectKind,
};
pub use kind::{FieldKind, FieldValue};
pub use language::{Language, each_language};
pub use logo::{Logo, NewLogo};
pub use name_key::{
    MAX_NAME_WORDS, MAX_VALUE_WORDS, NAME_KEY_LENGTH, NamePrefix, letters_and_digits, name_keys,
    search_key, spellings, value_keys, whole_key,
};
pub use order::{
    Contact, NewOrder, Note, Order, OrderId, OrderPatch, OrderStatus, OrderTerms, Reason, Reference,
};
pub use order_rules::asking_price;
pub use patch::Patch;
pub use pet_note::{NoteEditor, NoteId, NoteText, PetNote};
pub use photo::{AltText, Focus, NewPhoto, Photo, PhotoId, Photos};
pub use photo_file::{PhotoFile, PhotoSize};
pub use photo_rules::{PHOTO_ORDER_RULE, check_room_for_photo};
pub use phrase::{Phrase, PhraseMeaning, PhraseWord};
pub use picture_problem::PictureProblem;
pub use preconditions::{IfMatch, Preconditions};
pub use profile::{FirstStep, Profile, ProfilePatch, StoreKind};
pub use profile_rules::{ProfileChange, ProfileDecision, ProfileRefusal, decide_profile};
pub use profile_texts::{
    About, Address, Colour, ContactPage, EmailAddress, Link, LinkLabel, LinkUrl, Links, StoreName,
    TelephoneNumber,
};
pub use query::{Inventory, OrderQuery, PetQuery, Reservations};
pub use refusal::{Conflict, Refusal};
pub use resource::Resource;
pub use reversal::{
    CategoryReversal, LostPhoto, NotRevertible, OrderChange, PHOTO_RESTORE_WINDOW, PetChange,
    PetReversal, Reversal,
};
pub use shelter_fields::{INTAKE, INTAKE_KIND, PLACE, RETURNED, missing_shelter_fields};
pub use store_pet::{PetPatch, StorePet, Withdrawal, WithdrawalReason};
pub use stored_text::{PrivateText, Text};
pub use time_zone::{StoreTimeZone, ZoneRegion, zone_regions};
pub use unique_value::{UniqueKey, UniqueValueOwner, unique_text_key};
pub use valid_text::is_date;
pub use value_filter::ValueFilter;
pub use webhook::{
    Attempt, DeliveryProgress, DeliveryUpdate, DisabledReason, Lease, RestartPoint, RetiredSecret,
    SealedSecrets, StoredWebhook, TestMessage, WaitingMessage, Webhook, WebhookChange,
    WebhookPatch,
};
pub use webhook_id::WebhookId;
