//! The list of all promises, by suite.

use crate::place::{DynPlace, LocalFuture};

/// Calls a macro with the names of the promises of a suite.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    (sessions [$($then:tt)*] $($arguments:tt)*) => { $($then)*! { $($arguments)* sessions:
        state_is_shared_by_scope,
        a_key_exists_once,
        events_are_returned_unchanged,
        sessions_are_listed_by_change,
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

/// A property that every store must have.
pub struct Promise {
    /// The suite.
    pub suite: &'static str,
    /// The name within the suite.
    pub name: &'static str,
    /// The function that checks it.
    pub(crate) check: for<'a> fn(&'a dyn DynPlace) -> LocalFuture<'a, ()>,
    /// The source of the suite, from which a report takes the words of the promise.
    pub(crate) source: &'static str,
    /// The part of the documentation that describes the promise.
    pub(crate) read: &'static str,
}

/// Suites whose promises run on a runtime of two threads; all others run on one thread.
pub(crate) const THREADS: &[&str] = &["artifacts", "memory", "keys", "updates", "driven"];

macro_rules! table {
    ([$read:literal] $suite:ident: $($name:ident,)*) => {
        &[$(Promise {
            suite: stringify!($suite),
            name: stringify!($name),
            check: |place| Box::pin(crate::$suite::$name(place)),
            source: include_str!(concat!(stringify!($suite), ".rs")),
            read: $read,
        }),*]
    };
}

/// All promises, by suite.
pub static PROMISES: &[&[Promise]] = &[
    __suite!(sessions[table]["`adk_journal::session::SessionStore`"]),
    __suite!(artifacts[table]["`adk_journal::ArtifactStore`"]),
    __suite!(memory[table]["`adk_journal::memory::MemoryService`"]),
    __suite!(limits[table]["`SessionKey::check` and `Event::check_depth` in `adk_journal`"]),
    __suite!(values[table]["`adk_journal::engine::Journal`: values come back unchanged"]),
    __suite!(runs[table]["`Journal::commit` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(updates[table]["`Journal::commit` and `Body::Update` in `adk_journal::engine`"]),
    __suite!(
        lists[table]["`RunRegistry::runs`, `RunInfo` and `RunFilter` in `adk_journal::engine`"]
    ),
    __suite!(cancel[table]["`RunRegistry::cancel` and `close` in `adk_journal::engine`"]),
    __suite!(retries[table]["`Journal::step` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(keys[table]["`adk_journal::engine::RequestKeys`; `RunRegistry::enqueue`"]),
    __suite!(queue[table]["`RunRegistry::enqueue` and `claim` in `adk_journal::engine`"]),
    __suite!(people[table]["`Journal::answer` and `WaitRegistry` in `adk_journal::engine`"]),
    __suite!(
        questions[table]["`WaitRegistry::withdraw` and `RunRegistry::claim` in `adk_journal::engine`"]
    ),
    __suite!(tenants[table]["`runs_of_tenants` and `due_of_tenants` in `adk_journal::engine`"]),
    __suite!(changes[table]["`Journal::step` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(
        driven[table]["`ClaimId::driven_above` and `RunRegistry::driven` in `adk_journal::engine`"]
    ),
    __suite!(kills[table]["`Journal::commit`: the transaction is durable before the answer"]),
];
