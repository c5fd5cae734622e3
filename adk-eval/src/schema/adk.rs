//! The models of google-adk's `evaluation` package, version 2.13.0.
//!
//! A field without `=>` is optional and null by default.

use super::genai::{
    CONTENT, FUNCTION_CALL, FUNCTION_RESPONSE, GROUNDING_METADATA, PART, USAGE_METADATA,
};
use super::table::Extra::{Allow, Forbid, Ignore};
use super::table::Kind::{
    Any, Bool, Either, Float, FloatOr, Int, List, Map, Model as Of, Object, Pair, Text,
};
use super::table::{Field, Missing, Model};

/// Makes a static of each model.
macro_rules! models {
    ($($model:ident $extra:ident {
        $($field:ident: $kind:expr $(=> $default:expr)?),* $(,)?
    })*) => {
        $(pub(crate) static $model: Model = Model {
            extra: $extra,
            fields: &[$(Field {
                name: stringify!($field),
                kind: $kind,
                default: models!(@ $($default)?),
            }),*],
        };)*
    };
    (@) => { Missing::Null };
    (@ $default:expr) => { $default };
}

models! {
    EVAL_SET Ignore {
        eval_set_id: Text => Missing::Required,
        name: Text,
        description: Text,
        eval_cases: List(&Of(&EVAL_CASE)) => Missing::Required,
        creation_timestamp: Float => Missing::Zero,
    }
    EVAL_CASE Allow {
        eval_id: Text => Missing::Required,
        conversation: List(&Of(&INVOCATION)),
        conversation_scenario: Of(&CONVERSATION_SCENARIO),
        session_input: Of(&SESSION_INPUT),
        creation_timestamp: Float => Missing::Zero,
        rubrics: List(&Of(&RUBRIC)),
        final_session_state: Object => Missing::ObjectOrNull,
    }
    CONVERSATION_SCENARIO Forbid {
        starting_prompt: Text => Missing::Required,
        conversation_plan: Text => Missing::Required,
        user_persona: Any,
    }
    SESSION_INPUT Allow {
        app_name: Text => Missing::Required,
        user_id: Text => Missing::Required,
        session_id: Text,
        state: Object => Missing::Object,
    }
    INVOCATION Forbid {
        invocation_id: Text => Missing::Text,
        user_content: Of(&CONTENT) => Missing::Required,
        final_response: Of(&CONTENT),
        intermediate_data: Either(&INTERMEDIATE_DATA, &INVOCATION_EVENTS),
        creation_timestamp: Float => Missing::Zero,
        duration: Float,
        model_duration: Float,
        tool_duration: Float,
        rubrics: List(&Of(&RUBRIC)),
        app_details: Of(&APP_DETAILS),
    }
    INTERMEDIATE_DATA Forbid {
        tool_uses: List(&Of(&FUNCTION_CALL)) => Missing::List,
        tool_responses: List(&Of(&FUNCTION_RESPONSE)) => Missing::List,
        intermediate_responses: List(&Pair(&Text, &List(&Of(&PART)))) => Missing::List,
    }
    INVOCATION_EVENTS Forbid { invocation_events: List(&Of(&INVOCATION_EVENT)) => Missing::List }
    INVOCATION_EVENT Ignore {
        author: Text => Missing::Required,
        content: Of(&CONTENT),
        grounding_metadata: Of(&GROUNDING_METADATA),
        usage_metadata: Of(&USAGE_METADATA),
        model_version: Text,
    }
    RUBRIC Forbid {
        rubric_id: Text => Missing::Required,
        rubric_content: Of(&RUBRIC_CONTENT) => Missing::Required,
        description: Text,
        type: Text,
    }
    RUBRIC_CONTENT Forbid { text_property: Text }
    APP_DETAILS Forbid { agent_details: Map(&Of(&AGENT_DETAILS)) => Missing::Object }
    AGENT_DETAILS Forbid {
        name: Text => Missing::Required,
        instructions: Text => Missing::Text,
        tool_declarations: List(&Any) => Missing::List,
    }
    EVAL_CONFIG Ignore {
        criteria: Map(&FloatOr(&CRITERION)) => Missing::Object,
        custom_metrics: Map(&Of(&CUSTOM_METRIC)),
        user_simulator_config: Object,
        live_model_config: Of(&LIVE_MODEL_CONFIG),
    }
    CUSTOM_METRIC Ignore {
        code_config: Of(&CODE_CONFIG) => Missing::Required,
        metric_info: Of(&METRIC_INFO),
        description: Text => Missing::Text,
    }
    CODE_CONFIG Forbid { name: Text => Missing::Required }
    METRIC_INFO Forbid {
        metric_name: Text => Missing::Required,
        description: Text,
        metric_value_info: Of(&METRIC_VALUE_INFO) => Missing::Required,
        requires_threshold: Bool => Missing::True,
    }
    METRIC_VALUE_INFO Forbid { interval: Of(&INTERVAL) }
    INTERVAL Forbid {
        min_value: Float => Missing::Required,
        open_at_min: Bool => Missing::False,
        max_value: Float => Missing::Required,
        open_at_max: Bool => Missing::False,
    }
    LIVE_MODEL_CONFIG Ignore { timeout_seconds: Int => Missing::Count(300) }
    CRITERION Allow {
        threshold: Float => Missing::Required,
        include_intermediate_responses_in_final: Bool => Missing::False,
    }
    TRAJECTORY_CRITERION Allow {
        threshold: Float => Missing::Required,
        include_intermediate_responses_in_final: Bool => Missing::False,
        match_type: Any => Missing::Count(0),
        ignore_args: Bool => Missing::False,
    }
    JUDGE_CRITERION Allow {
        threshold: Float => Missing::Required,
        include_intermediate_responses_in_final: Bool => Missing::False,
        judge_model_options: Of(&JUDGE_MODEL_OPTIONS) => Missing::Defaults,
    }
    RUBRICS_CRITERION Allow {
        threshold: Float => Missing::Required,
        include_intermediate_responses_in_final: Bool => Missing::False,
        judge_model_options: Of(&JUDGE_MODEL_OPTIONS) => Missing::Defaults,
        rubrics: List(&Of(&RUBRIC)) => Missing::List,
    }
    HALLUCINATIONS_CRITERION Allow {
        threshold: Float => Missing::Required,
        include_intermediate_responses_in_final: Bool => Missing::False,
        judge_model_options: Of(&JUDGE_MODEL_OPTIONS) => Missing::Defaults,
        evaluate_intermediate_nl_responses: Bool => Missing::False,
    }
    JUDGE_MODEL_OPTIONS Forbid {
        judge_model: Text => Missing::Word("gemini-2.5-flash"),
        judge_model_config: Object,
        num_samples: Int => Missing::Count(5),
        parallelism_limit: Int => Missing::Count(1),
    }
    EVAL_SET_RESULT Ignore {
        eval_set_result_id: Text => Missing::Required,
        eval_set_result_name: Text,
        eval_set_id: Text => Missing::Required,
        eval_case_results: List(&Of(&EVAL_CASE_RESULT)) => Missing::List,
        creation_timestamp: Float => Missing::Zero,
    }
    EVAL_CASE_RESULT Ignore {
        eval_set_file: Text,
        eval_set_id: Text => Missing::Text,
        eval_id: Text => Missing::Text,
        final_eval_status: Int => Missing::Required,
        eval_metric_results: Any,
        overall_eval_metric_results: List(&Of(&EVAL_METRIC_RESULT)) => Missing::Required,
        eval_metric_result_per_invocation: List(&Of(&PER_INVOCATION)) => Missing::Required,
        session_id: Text => Missing::Required,
        session_details: Any,
        user_id: Text,
    }
    EVAL_METRIC_RESULT Forbid {
        metric_name: Text => Missing::Required,
        threshold: Float,
        criterion: Of(&CRITERION),
        custom_function_path: Text,
        score: Float,
        eval_status: Int => Missing::Required,
        details: Of(&METRIC_RESULT_DETAILS) => Missing::Defaults,
    }
    METRIC_RESULT_DETAILS Forbid {
        rubric_scores: List(&Of(&RUBRIC_SCORE)),
        token_usage_details: Of(&TOKEN_USAGE_DETAILS),
        duration_details: Of(&DURATION_DETAILS),
    }
    RUBRIC_SCORE Forbid {
        rubric_id: Text => Missing::Required,
        rationale: Text,
        score: Float,
    }
    TOKEN_USAGE_DETAILS Forbid {
        total_tokens: Float,
        input_tokens: Float,
        prompt_tokens: Float,
        cached_tokens: Float,
        tool_use_tokens: Float,
        output_tokens: Float,
        candidates_tokens: Float,
        reasoning_tokens: Float,
    }
    DURATION_DETAILS Forbid {
        total_seconds: Float,
        model_seconds: Float,
        tool_seconds: Float,
        framework_seconds: Float,
    }
    PER_INVOCATION Forbid {
        actual_invocation: Of(&INVOCATION) => Missing::Required,
        expected_invocation: Of(&INVOCATION),
        eval_metric_results: List(&Of(&EVAL_METRIC_RESULT)) => Missing::List,
    }
}
