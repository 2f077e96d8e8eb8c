//! The store area: what a store needs beyond the animals of the contract.
//!
//! These are animals with versions, fields, photos and notes, categories, orders, searches, the
//! profile of the store, and webhooks.
//!
//! A [`Command`] changes animals, notes, orders and categories. Every command goes through
//! [`decide()`], which is independent of HTTP and SQL. In one transaction, a store reads the
//! [`PresentState`] of a command's subject, calls [`decide()`], and writes the resulting changes.
//! Likewise, [`decide_field`] decides how a field changes, and [`decide_profile`] how the profile
//! changes.
//!
//! The store records the changes of commands in the journal (see [`JournalEntry`]), from which
//! programs read changes and webhooks deliver them. A [`Reversal`] undoes changes with the help of
//! the journal.

// Commands, and how they are decided.
mod change;
mod command;
mod decide;
mod patch;
mod preconditions;
mod refusal;
mod resource;
mod shared_rules;

// Animals, their categories and their notes.
mod category;
mod category_rules;
mod note_rules;
mod pet_note;
mod pet_rules;
mod store_pet;

// Photos of animals.
mod photo;
mod photo_file;
mod photo_rules;
mod picture_problem;

// Orders.
mod order;
mod order_checks;
mod order_rules;

// Reverts.
mod act_reversal;
mod reversal;
mod revert_rules;
mod revert_steps;

// Fields of animals, and their values.
mod choices;
mod compact_key;
mod field;
mod field_kind;
mod field_labels;
mod field_rules;
mod field_values;
mod shelter_fields;
mod unique_value;
mod value_rules;

// Searches and lists.
mod age;
mod date_range;
mod everyday_word;
mod name_key;
mod name_prefix;
mod phrase;
mod query;
mod spelling;
mod value_filter;

// The profile of the store.
mod contact_url;
mod contract_text;
mod currency;
mod language;
mod logo;
mod profile;
mod profile_rules;
mod profile_texts;
mod time_zone;

// The journal, the audit trail and webhooks.
mod audit;
mod delivery;
mod journal;
mod webhook;
mod webhook_id;

// Numbers and texts.
mod decimal;
mod stored_text;
mod valid_text;

pub use age::Age;
pub use audit::{Act, ActType, AuditEntry, AuditPosition, AuditQuery, AuditType};
pub use category::{Category, Label};
pub use change::{Change, ChangeType, Decision, PresentState};
pub use choices::Choices;
pub use command::{Command, NoteEdit, PhotoPatch, Subject};
pub use compact_key::{compact_key, is_shortened_number};
pub use contact_url::ContactUrl;
pub use contract_text::{ContractText, Placeholder, find_unknown_placeholder};
pub use currency::Currency;
pub use date_range::DateRange;
pub use decide::decide;
pub use decimal::Decimal;
pub use delivery::{
    Attempt, DeliveryProgress, DeliveryUpdate, DisabledReason, Lease, TestMessage, WaitingMessage,
};
pub use everyday_word::{EverydayWord, Property};
pub use field::{FieldDefinition, FieldName, FieldSet};
pub use field_kind::{FieldKind, FieldValue};
pub use field_labels::{FieldLabels, relabel};
pub use field_rules::{FieldChange, FieldCommand, FieldDecision, FieldRefusal, decide_field};
pub use field_values::{FieldPatch, FieldProblem, FieldValues, RequestedValue};
pub use journal::{ChangePage, Epoch, JournalEntry, JournalState, JournalSubject, SubjectKind};
pub use language::{Language, each_language};
pub use logo::{Logo, NewLogo};
pub use name_key::{
    MAX_NAME_WORDS, MAX_VALUE_WORDS, NAME_KEY_LENGTH, letters_and_digits, name_keys, search_key,
    spellings, value_keys, whole_key,
};
pub use name_prefix::NamePrefix;
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
    RestartPoint, RetiredSecret, SealedSecrets, StoredWebhook, Webhook, WebhookChange, WebhookPatch,
};
pub use webhook_id::WebhookId;
