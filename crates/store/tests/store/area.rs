//! The suite of [`StoreArea`](petstore_store::StoreArea).

/// Makes a test of every function, as [`crate::suite::suite`] does.
macro_rules! area_suite {
    ($open:expr) => {
        $crate::area::area_suite!(
            $open,
            what_a_command_changes_is_what_is_read_afterwards,
            an_animal_added_by_a_command_is_one_of_the_contract,
            an_animal_of_the_contract_has_version_1_and_the_time_of_its_creation,
            a_withdrawn_animal_leaves_the_catalogue_and_returns_as_it_was,
            each_end_of_an_order_is_stored_with_its_animal,
            a_reopened_order_is_stored_with_its_animal,
            in_one_request_the_animal_of_a_newer_order_can_go_to_an_older_one,
            of_many_orders_reopened_for_one_animal_one_is_open,
            a_changed_order_is_read_as_changed,
            a_status_set_by_hand_ends_the_hold_of_the_order,
            categories_are_put_deleted_and_made_again,
            the_commands_of_a_request_see_those_before_them,
            a_refused_command_undoes_those_before_it,
            an_animal_that_a_request_adds_or_restores_and_withdraws_is_withdrawn,
            the_representations_of_a_batch_have_2_mib_and_one_byte_more_is_refused,
            what_a_batch_leaves_as_it_is_counts_as_if_it_had_changed,
            of_many_orders_for_one_animal_one_is_placed,
            of_many_changes_of_one_version_one_is_made,
            opposite_requests_over_the_same_animals_all_end,
            a_request_whose_future_is_dropped_is_done_completely_or_not_at_all,
            a_repeated_request_replays_its_response_whatever_changed_since,
            an_idempotency_key_of_another_request_or_operation_is_a_conflict,
            a_refused_request_is_not_remembered,
            concurrent_repetitions_have_one_effect,
            a_replay_of_create_pet_shows_the_animal_as_it_was_added,
            a_page_of_animals_is_what_the_filters_select,
            a_search_is_exact_while_animals_change_and_are_merged,
            a_walk_gives_each_animal_once_while_others_change,
            a_page_of_very_long_names_is_complete,
            a_search_compares_the_first_256_characters_of_a_name,
            animals_on_offer_are_listed_newest_first,
            the_public_version_changes_with_what_the_public_sees_and_with_no_other_write,
            animals_that_became_available_again_are_returns_the_newest_first,
            a_page_of_orders_is_what_the_filters_select,
            orders_are_due_from_their_end_the_oldest_first,
            the_newest_orders_have_the_names_of_their_animals,
            the_open_reservations_are_counted_with_their_first_end,
            a_page_of_categories_follows_the_given_number,
            the_inventory_counts_every_animal,
            the_animals_of_a_category_are_counted_withdrawn_or_not,
            a_value_that_is_written_while_its_field_is_examined_keeps_the_field,
            a_command_is_decided_with_the_fields_as_they_are,
            several_changes_of_fields_are_made_together_or_not_at_all,
            of_many_animals_with_one_unique_value_one_is_added,
            no_two_animals_have_one_chip_while_many_add_withdraw_and_restore,
            a_search_by_values_is_exact_while_animals_change_and_are_merged,
            a_search_by_words_and_dates_is_exact_while_animals_change_and_are_merged,
            a_phrase_finds_no_private_value_for_everybody_and_each_label_at_once,
            many_animals_with_the_same_words_are_found_by_all_of_them,
            a_search_among_many_that_are_not_merged_fills_its_pages,
            values_of_many_bytes_are_merged_in_small_steps_and_found_before_that,
            the_animal_with_a_unique_value_is_found_without_the_search,
            texts_are_found_without_regard_to_case_and_accents_and_numbers_by_their_value,
            values_of_a_field_that_gets_another_kind_are_not_mixed_up,
            notes_are_added_corrected_and_deleted_for_good,
            the_log_has_that_a_note_exists_and_no_text_of_it,
            a_note_is_changed_by_its_author_or_a_manager_in_the_version_they_saw,
            an_animal_has_at_most_500_notes_withdrawn_or_not,
            a_walk_through_notes_gives_each_once,
            the_store_knows_which_files_photos_need,
            a_file_is_due_a_day_after_it_was_seen_without_a_photo,
            an_animal_off_the_website_is_in_no_list_count_or_search_of_the_public,
            the_switch_takes_an_animal_off_the_website_at_once_and_back,
            an_animal_stays_off_the_website_through_orders_and_a_withdrawal,
            a_photo_is_for_the_public_unless_its_animal_is_off_the_website,
            a_photo_that_an_animal_lost_is_as_public_as_the_animal,
            a_lost_photo_is_known_until_its_files_are_gone,
            pages_are_full_although_many_animals_are_off_the_website,
            the_times_of_any_clock_are_stored_listed_and_changed_again,
            each_kind_of_act_is_reverted_once_and_not_again,
            each_end_of_an_order_is_reverted_with_its_animal,
            of_many_reverts_of_one_act_one_is_made,
            an_act_about_many_animals_is_reverted_as_a_whole_or_not_at_all,
            acts_at_the_same_time_are_told_apart,
            an_act_whose_beginning_may_be_forgotten_is_unknown,
            a_value_that_another_animal_has_meanwhile_is_not_given_back,
            a_category_and_a_photo_come_back_with_all_that_they_had
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::area::$test(store).await;
        })*
    };
}
pub(crate) use crate::{
    area_commands::*, area_field_search::*, area_fields::*, area_listed::*, area_lists::*,
    area_notes::*, area_offers::*, area_orders::*, area_photos::*, area_requests::*,
    area_reverts::*, area_words::*, times::*,
};
pub(crate) use area_suite;
