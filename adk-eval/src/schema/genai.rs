//! The models of google-genai 2.34: contents, usage and grounding. All fields are optional, and
//! unknown fields are refused.

use super::table::Kind::{Bool, Float, Int, List, Model as Of, Object, Text};
use super::table::{Extra, Field, Missing, Model};

/// Makes a static of each model.
macro_rules! models {
    ($($model:ident { $($field:ident: $kind:expr),* $(,)? })*) => {$(
        pub(crate) static $model: Model = Model {
            extra: Extra::Forbid,
            fields: &[$(Field {
                name: stringify!($field),
                kind: $kind,
                default: Missing::Null,
            }),*],
        };
    )*};
}

models! {
    CONTENT { parts: List(&Of(&PART)), role: Text }
    PART {
        media_resolution: Of(&PART_MEDIA_RESOLUTION),
        code_execution_result: Of(&CODE_EXECUTION_RESULT),
        executable_code: Of(&EXECUTABLE_CODE), file_data: Of(&FILE_DATA),
        function_call: Of(&FUNCTION_CALL), function_response: Of(&FUNCTION_RESPONSE),
        inline_data: Of(&BLOB), text: Text, thought: Bool, thought_signature: Text,
        video_metadata: Of(&VIDEO_METADATA), tool_call: Of(&TOOL_CALL),
        tool_response: Of(&TOOL_RESPONSE), part_metadata: Object,
        audio_transcription: Of(&TRANSCRIPTION), media_processing: Text,
        speech_metadata: Of(&SPEECH_METADATA),
    }
    PART_MEDIA_RESOLUTION { level: Text, num_tokens: Int }
    CODE_EXECUTION_RESULT { outcome: Text, output: Text, id: Text }
    EXECUTABLE_CODE { code: Text, language: Text, id: Text }
    FILE_DATA { display_name: Text, file_uri: Text, mime_type: Text }
    FUNCTION_CALL {
        id: Text, args: Object, name: Text, partial_args: List(&Of(&PARTIAL_ARG)),
        will_continue: Bool,
    }
    PARTIAL_ARG {
        bool_value: Bool, json_path: Text, null_value: Text, number_value: Float,
        string_value: Text, will_continue: Bool,
    }
    FUNCTION_RESPONSE {
        will_continue: Bool, scheduling: Text, parts: List(&Of(&FUNCTION_RESPONSE_PART)),
        id: Text, name: Text, response: Object,
    }
    FUNCTION_RESPONSE_PART {
        inline_data: Of(&FUNCTION_RESPONSE_BLOB), file_data: Of(&FUNCTION_RESPONSE_FILE_DATA),
        media_processing: Text,
    }
    FUNCTION_RESPONSE_BLOB { mime_type: Text, data: Text, display_name: Text }
    FUNCTION_RESPONSE_FILE_DATA { file_uri: Text, mime_type: Text, display_name: Text }
    BLOB { data: Text, display_name: Text, mime_type: Text }
    VIDEO_METADATA { end_offset: Text, fps: Float, start_offset: Text }
    TOOL_CALL { id: Text, tool_type: Text, args: Object }
    TOOL_RESPONSE { id: Text, tool_type: Text, response: Object }
    TRANSCRIPTION {
        text: Text, finished: Bool, language_code: Text, speaker_label: Text,
        words: List(&Of(&WORD_INFO)), start_offset: Text, end_offset: Text,
    }
    WORD_INFO { word: Text, start_offset: Text, end_offset: Text }
    SPEECH_METADATA { speaker: Text, style: Text }
    USAGE_METADATA {
        cache_tokens_details: List(&Of(&MODALITY_TOKEN_COUNT)), cached_content_token_count: Int,
        candidates_token_count: Int, candidates_tokens_details: List(&Of(&MODALITY_TOKEN_COUNT)),
        prompt_token_count: Int, prompt_tokens_details: List(&Of(&MODALITY_TOKEN_COUNT)),
        thoughts_token_count: Int, tool_use_prompt_token_count: Int,
        tool_use_prompt_tokens_details: List(&Of(&MODALITY_TOKEN_COUNT)), total_token_count: Int,
        traffic_type: Text,
    }
    MODALITY_TOKEN_COUNT { modality: Text, token_count: Int }
    GROUNDING_METADATA {
        image_search_queries: List(&Text), grounding_chunks: List(&Of(&GROUNDING_CHUNK)),
        grounding_supports: List(&Of(&GROUNDING_SUPPORT)),
        retrieval_metadata: Of(&RETRIEVAL_METADATA),
        search_entry_point: Of(&SEARCH_ENTRY_POINT), web_search_queries: List(&Text),
        google_maps_widget_context_token: Text, retrieval_queries: List(&Text),
        source_flagging_uris: List(&Of(&GROUNDING_METADATA_SOURCE_FLAGGING_URI)),
    }
    GROUNDING_CHUNK {
        image: Of(&GROUNDING_CHUNK_IMAGE), maps: Of(&GROUNDING_CHUNK_MAPS),
        retrieved_context: Of(&GROUNDING_CHUNK_RETRIEVED_CONTEXT),
        web: Of(&GROUNDING_CHUNK_WEB),
    }
    GROUNDING_CHUNK_IMAGE { source_uri: Text, image_uri: Text, title: Text, domain: Text }
    GROUNDING_CHUNK_MAPS {
        place_answer_sources: Of(&GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES), place_id: Text,
        text: Text, title: Text, uri: Text, route: Of(&GROUNDING_CHUNK_MAPS_ROUTE),
    }
    GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES {
        review_snippet: List(&Of(&GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES_REVIEW_SNIPPET)),
        flag_content_uri: Text,
        review_snippets: List(&Of(&GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES_REVIEW_SNIPPET)),
    }
    GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES_REVIEW_SNIPPET {
        author_attribution: Of(&GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES_AUTHOR_ATTRIBUTION),
        flag_content_uri: Text, google_maps_uri: Text, relative_publish_time_description: Text,
        review: Text, review_id: Text, title: Text,
    }
    GROUNDING_CHUNK_MAPS_PLACE_ANSWER_SOURCES_AUTHOR_ATTRIBUTION {
        display_name: Text, photo_uri: Text, uri: Text,
    }
    GROUNDING_CHUNK_MAPS_ROUTE { distance_meters: Int, duration: Text, encoded_polyline: Text }
    GROUNDING_CHUNK_RETRIEVED_CONTEXT {
        document_name: Text, rag_chunk: Of(&RAG_CHUNK), text: Text, title: Text, uri: Text,
        custom_metadata: List(&Of(&GROUNDING_CHUNK_CUSTOM_METADATA)), file_search_store: Text,
        page_number: Int, media_id: Text,
    }
    RAG_CHUNK { page_span: Of(&RAG_CHUNK_PAGE_SPAN), text: Text, chunk_id: Text, file_id: Text }
    RAG_CHUNK_PAGE_SPAN { first_page: Int, last_page: Int }
    GROUNDING_CHUNK_CUSTOM_METADATA {
        key: Text, numeric_value: Float, string_list_value: Of(&GROUNDING_CHUNK_STRING_LIST),
        string_value: Text,
    }
    GROUNDING_CHUNK_STRING_LIST { values: List(&Text) }
    GROUNDING_CHUNK_WEB { domain: Text, title: Text, uri: Text }
    GROUNDING_SUPPORT {
        confidence_scores: List(&Float), grounding_chunk_indices: List(&Int),
        segment: Of(&SEGMENT), rendered_parts: List(&Int),
    }
    SEGMENT { start_index: Int, end_index: Int, part_index: Int, text: Text }
    RETRIEVAL_METADATA { google_search_dynamic_retrieval_score: Float }
    SEARCH_ENTRY_POINT { rendered_content: Text, sdk_blob: Text }
    GROUNDING_METADATA_SOURCE_FLAGGING_URI { flag_content_uri: Text, source_id: Text }
}
