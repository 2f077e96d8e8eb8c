//! The methods of a store that its doubles do not have themselves.

/// Implements the log, webhooks, staff and the store area for a double. Each method calls the macro
/// `$how` with the double, the method and its arguments; the one that executes commands, `$execute`.
#[macro_export]
macro_rules! double {
    ($double:ty, $how:ident, $execute:ident) => {
        const _: () = {
            use std::ops::RangeInclusive;

            use jiff::Timestamp;
            use petstore_domain::{IdempotentRequest, Limit, PetId, StoredResponse, WriteContext, StaffId, staff::{StaffChange, StaffMember, StaffSession, TokenDigest}, store_area::{Act, Attempt, AuditEntry, AuditPosition, AuditQuery, Category, ChangePage, ChangeType, Command, DeliveryUpdate, FieldChange, FirstStep, FieldName, FieldSet, Inventory, JournalState, JournalEntry, Logo, NoteId, Order, OrderId, OrderQuery, PetNote, PhotoId, PetQuery, Reservations, StorePet, UniqueValueOwner, Profile, ProfileDecision, StoredWebhook, TestMessage, UniqueKey, WaitingMessage, WebhookId, WebhookChange}};
            use petstore_store::{ExecutionOutcome, Fields, Journal, Lists, Notes, Offers, PhotoFiles, ExecutionRenderer, ReturnToOffer, Staff, StaffKey, StaffWriteOutcome, StoreArea, StoreError, StoreProfile, StoredLogo, Version, WriteOutcome, Webhooks};

            use $crate::methods;

            methods! { $double, Journal:
                $how => journal_state() -> JournalState;
                $how => changes_after(
                    after: i64, kind: Option<ChangeType>, limit: u32
                ) -> ChangePage;
                $how => history(pet: PetId, before: i64, limit: u32) -> Vec<JournalEntry>;
                $how => changes_of_act(seq: i64) -> Vec<JournalEntry>;
                $how => forget_changes(kept: RangeInclusive<Timestamp>, limit: u32) -> usize;
                $how => confirmed_time(now: Timestamp) -> Timestamp;
                $how => confirm_time(
                    seen: Timestamp, now: Timestamp, act: Option<(Act, WriteContext)>
                ) -> bool;
                $how => list_audit(query: &AuditQuery) -> (Vec<AuditEntry>, Option<AuditPosition>);
            }
            methods! { $double, Fields:
                $how => fields() -> FieldSet;
                $how => owners(of: UniqueKey) -> Vec<PetId>;
                $how => shared_values() -> Vec<UniqueValueOwner>;
                $how => examine_field(name: FieldName, seen: i64) -> bool;
                $how => write_fields(
                    changes: Vec<FieldChange>, acts: Vec<Act>, response: StoredResponse,
                    context: WriteContext
                ) -> WriteOutcome;
            }
            methods! { $double, StoreProfile:
                $how => profile() -> Profile;
                $how => first_steps() -> String;
                $how => note_step(step: FirstStep) -> ();
                $how => logo(logo: Logo, now: Timestamp) -> Option<StoredLogo>;
                $how => write_profile(
                    decision: ProfileDecision, response: StoredResponse, context: WriteContext
                ) -> WriteOutcome;
            }
            methods! { $double, PhotoFiles:
                $how => incarnation() -> String;
                $how => photos_in(shard: u8) -> Vec<PhotoId>;
                $how => note_orphans(
                    shard: u8, present: Vec<PhotoId>, now: Timestamp, until: Timestamp
                ) -> Vec<PhotoId>;
            }
            methods! { $double, Webhooks:
                $how => list_webhooks() -> Vec<StoredWebhook>;
                $how => draw_webhook_id() -> WebhookId;
                $how => recall_request(request: IdempotentRequest) -> Option<WriteOutcome>;
                $how => write_webhook(
                    change: WebhookChange, act: Option<Act>, response: StoredResponse, context: WriteContext
                ) -> WriteOutcome;
                $how => save_deliveries(updates: Vec<DeliveryUpdate>) -> Vec<bool>;
                $how => waiting_messages(webhook: WebhookId) -> Vec<WaitingMessage>;
                $how => waiting_tests() -> Vec<TestMessage>;
                $how => take_test(message_id: String) -> bool;
                $how => list_attempts(webhook: WebhookId, after: i64, limit: u32) -> Vec<(i64, Attempt)>;
                $how => add_attempt(webhook: WebhookId, attempt: Attempt) -> ();
            }
            methods! { $double, Staff:
                $how => list_staff() -> Vec<StaffMember>;
                $how => find_staff(by: StaffKey) -> Option<StaffMember>;
                $how => write_staff(change: StaffChange, context: WriteContext) -> StaffWriteOutcome;
                $how => find_session(digest: TokenDigest) -> Option<(StaffSession, StaffMember)>;
                $how => list_sessions(of: Option<StaffId>) -> Vec<StaffSession>;
                $how => touch_session(digest: TokenDigest, at: Timestamp) -> ();
                $how => forget_sessions(seen: Timestamp, begun: Timestamp) -> usize;
                $how => record_act(act: Act, context: WriteContext) -> ();
            }
            methods! { $double, StoreArea:
                $execute => execute(
                    commands: Vec<Command>, context: WriteContext, respond: ExecutionRenderer
                ) -> ExecutionOutcome;
                $how => get_store_pet(id: PetId) -> Option<StorePet>;
                $how => tend_search(few: u64) -> bool;
            }
            methods! { $double, Offers:
                $how => public_version() -> Version;
                $how => list_offers(query: &PetQuery) -> (Vec<StorePet>, Option<PetId>);
                $how => count_offers(queries: Vec<PetQuery>, most: usize) -> Vec<usize>;
                $how => photo_audience(
                    id: petstore_domain::store_area::PhotoId
                ) -> Option<petstore_store::PhotoAudience>;
                $how => list_returns(scanned_count: i64) -> Vec<ReturnToOffer>;
            }
            methods! { $double, Notes:
                $how => list_notes(
                    pet: PetId, after: Option<NoteId>, limit: Limit
                ) -> (Vec<PetNote>, Option<NoteId>);
                $how => all_notes(pet: PetId) -> Vec<PetNote>;
                $how => get_note(id: NoteId) -> Option<PetNote>;
            }
            methods! { $double, Lists:
                $how => list_store_pets(query: &PetQuery) -> (Vec<StorePet>, Option<PetId>);
                $how => count_on_offer(query: &PetQuery, most: usize) -> usize;
                $how => list_on_offer(
                    after: Option<PetId>, limit: Limit, oldest_first: bool
                ) -> (Vec<StorePet>, Option<PetId>);
                $how => count_inventory(now: Timestamp) -> Inventory;
                $how => get_order(id: OrderId) -> Option<Order>;
                $how => list_orders(query: &OrderQuery) -> (Vec<Order>, Option<OrderId>);
                $how => names_of_orders(status: Option<petstore_domain::store_area::OrderStatus>, limit: usize) -> Vec<(OrderId, petstore_domain::PetName)>;
                $how => due_orders(after: Option<(OrderId, Timestamp)>, now: Timestamp, limit: u32) -> Vec<(OrderId, Timestamp)>;
                $how => reservations() -> Reservations;
                $how => orders_with_contact(closed_until: Timestamp, after: Option<OrderId>, limit: u32) -> Vec<OrderId>;
                $how => list_categories(
                    after: Option<i64>, limit: Limit
                ) -> (Vec<Category>, Option<i64>);
                $how => count_of_category(id: i64) -> u64;
                $how => has_values(name: &FieldName) -> bool;
            }
        };
    };
}

/// Implements a trait with one macro for each method.
#[macro_export]
macro_rules! methods {
    ($double:ty, $of:ident:
        $($how:ident => $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        #[async_trait::async_trait]
        impl $of for $double {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$result, StoreError> {
                $how!(self, $method, $($argument),*)
            })*
        }
    };
}

pub use {double, methods};
