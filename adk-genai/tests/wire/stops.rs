//! Cancelling and waiting.

use super::*;
use adk_core::model::ModelErrorKind as Kind;
use std::time::Duration;

#[tokio::test]
async fn dropping_the_stream_in_the_middle_closes_the_connection() {
    for name in ALL {
        let server = WireServer::start([Reply::text("one two three four").split(8).pause_after(5)]).await;
        let mut stream = model(&server, name).generate(Arc::new(request("hi", true)));
        let first = stream.next().await;
        assert!(matches!(first, Some(Ok(ModelChunk::Text(_)))), "{name}: {first:?}");
        drop(stream);
        server.closed(1).await;
    }
}

#[tokio::test]
async fn dropping_the_stream_before_the_answer_closes_the_connection() {
    for (name, streamed) in everywhere() {
        let server = WireServer::start([Reply::text("never").pause_after(0)]).await;
        let mut stream = model(&server, name).generate(Arc::new(request("hi", streamed)));
        tokio::select! {
            chunk = stream.next() => panic!("{name}: {chunk:?}"),
            () = server.arrived(1) => {}
        }
        drop(stream);
        server.closed(1).await;
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = WireServer::start([Reply::text("hi")]).await;
    drop(model(&server, OPENAI).generate(Arc::new(request("hi", true))));
    drop(model(&server, OPENAI).generate(Arc::new(request("hi", false))));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn pieces_are_handed_on_while_the_rest_is_still_to_come() {
    for name in ALL {
        let server = WireServer::start([Reply::text("one two three four").split(8).pause_after(5)]).await;
        let mut stream = model(&server, name).generate(Arc::new(request("hi", true)));
        let Some(Ok(ModelChunk::Text(first))) = stream.next().await else { panic!("{name}") };
        // The server holds the rest back until now.
        server.release();
        let rest: Vec<_> = stream.map(|chunk| chunk.expect("the call works")).collect().await;
        assert_eq!(first + &said(&rest), "one two three four", "{name}");
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_before_words_and_a_broken_stream_after_them() {
    for (events, kind) in [(0, Kind::Timeout), (3, Kind::BrokenStream)] {
        for stream in [true, false] {
            if events > 0 && !stream {
                continue;
            }
            let server = WireServer::start([Reply::text("one two three").split(8).pause_after(events)]).await;
            let short = Duration::from_millis(100);
            let genai =
                Genai::builder().base_url(server.url()).api_key(KEY).read_timeout(short).build().unwrap();
            let (_, error) = fail(&genai.model(OPENAI).unwrap(), request("hi", stream)).await;
            assert_eq!(error.kind(), kind, "{stream}: {error}");
        }
    }
}
