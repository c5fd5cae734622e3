//! Macros that [`promises`](crate::promises) calls. They change without notice.

/// Calls a macro with the names of the promises of a suite.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    (sessions [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* sessions:
        state_is_shared_by_scope,
        a_key_exists_once,
        events_are_returned_unchanged,
        sessions_are_listed_by_change,
        sessions_are_listed_by_prefix,
        exports_are_imported_unchanged,
        data_survives_a_reopened_store,
        an_open_session_is_shared,
        impossible_ids_are_refused,
        deep_values_are_refused,
    } };
    (artifacts [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* artifacts:
        versions_count_from_zero,
        user_files_belong_to_the_user,
        any_name_is_a_name,
        parts_are_returned_unchanged,
        unreadable_parts_are_refused,
        concurrent_saves_get_separate_versions,
        files_are_deleted_with_their_session,
        a_resumed_run_finds_its_files,
        a_durable_run_needs_durable_files,
    } };
    (memory [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* memory:
        only_new_events_are_added,
        words_are_found_in_any_script,
        users_have_separate_memories,
        only_text_is_kept,
        a_search_returns_few_entries_of_many,
        concurrent_additions_add_each_event_once,
    } };
    (limits [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* limits:
        agents_obey_the_limit,
        beginnings_obey_the_limit,
        answers_obey_the_limit,
        tools_obey_the_limit,
        outputs_obey_the_limit,
        ids_obey_the_limit,
    } };
    (values [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* values:
        values_are_returned_bit_for_bit,
        typed_reads_return_what_was_written,
        values_and_keys_may_be_large,
        values_without_json_are_refused,
    } };
    (runs [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* runs:
        events_are_stored_before_delivery,
        many_runs_share_one_session,
        one_process_drives_a_run,
        a_run_of_a_deleted_session_writes_nothing,
    } };
    (updates [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* updates:
        concurrent_updates_all_count,
        an_update_happens_once,
        a_failed_update_changes_nothing,
        shared_keys_are_read_as_known,
    } };
    (lists [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* lists:
        times_and_usage_continue,
        cancelled_runs_report_their_usage,
        runs_are_listed_page_by_page,
        only_ended_runs_are_deleted,
    } };
    (cancel [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* cancel:
        a_waiting_run_ends_at_once,
        a_driven_run_ends_at_its_next_commit,
        a_run_of_this_process_ends_at_once,
        ended_runs_do_not_change,
    } };
    (retries [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* retries:
        a_failed_run_continues_after_a_fix,
    } };
    (keys [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* keys:
        a_key_has_one_binding,
        only_the_expected_binding_is_replaced,
        one_of_concurrent_requests_gets_the_key,
        expired_keys_are_deleted,
        a_run_id_begins_one_run,
        one_of_concurrent_runs_begins,
    } };
    (queue [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* queue:
        a_queued_run_is_listed,
        queued_runs_begin_in_order,
        a_run_id_is_taken_once,
        a_run_inside_the_turn_is_refused,
        a_resumed_run_in_the_queue_is_cancelled,
    } };
    (people [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* people:
        each_question_is_answered_once,
        only_named_users_answer,
        a_refused_run_is_unchanged,
        recovery_handles_deadlines,
        a_watch_handles_answers_and_deadlines,
        users_see_their_own_questions,
        guarded_calls_wait_with_their_marks,
        many_answered_runs_continue,
    } };
    (questions [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* questions:
        lost_questions_are_withdrawn,
        a_question_is_withdrawn_during_a_race,
        a_retry_asks_a_withdrawn_question_again,
        a_retry_asks_an_expired_question_again,
        a_handled_question_is_not_asked_again,
    } };
    (tenants [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* tenants:
        abandoned_runs_of_tenants_are_resumed,
        questions_of_tenants_are_watched,
    } };
    (changes [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* changes:
        changed_programs_repeat_no_recorded_call,
    } };
    (driven [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* driven:
        each_slot_is_filled_once,
        interleaved_attempts_fill_each_slot_once,
        two_processes_execute_branches,
        waits_are_kept_until_they_are_answered,
        any_process_closes_the_run,
        a_cancel_fences_all_processes,
        plain_processes_leave_the_run_alone,
        a_queued_run_begins_with_its_first_event,
        open_sessions_see_events_of_other_processes,
    } };
    (kills [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* kills:
        a_kill_loses_no_delivered_event,
        a_killed_run_ends_like_an_undisturbed_run,
        queued_runs_of_a_killed_process_begin_in_order,
        killed_runs_continue_with_a_changed_program,
    } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __suites {
    ($place:tt $attributes:tt $($suite:ident)*) => {
        $($crate::__suite! { $suite [$crate::__tests] $place $attributes })*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ($place:tt $attributes:tt $suite:ident: $($name:ident,)*) => {
        mod $suite {
            #[allow(unused_imports, reason = "the place may have a full path")]
            use super::*;
            $($crate::__test! { $place $attributes $suite $name })*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __test {
    ([$place:ty] [$(#[$attribute:meta])*] $suite:ident $name:ident) => {
        #[test]
        $(#[$attribute])*
        fn $name() {
            $crate::keep::<$place>(stringify!($suite), stringify!($name), module_path!());
        }
    };
}
