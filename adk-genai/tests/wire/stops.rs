//! Tests of the time at which a request is sent, and at which its pieces are delivered.

use super::*;

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = WireServer::start([Reply::text("hi")]).await;
    drop(model(&server, OPENAI).generate(Arc::new(request("hi", true))));
    drop(model(&server, OPENAI).generate(Arc::new(request("hi", false))));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn pieces_are_delivered_before_the_answer_is_complete() {
    for name in ALL {
        let server =
            WireServer::start([Reply::text("one two three four").split(8).pause_after(5)]).await;
        let mut stream = model(&server, name).generate(Arc::new(request("hi", true)));
        let Some(Ok(ModelChunk::Text(first))) = stream.next().await else {
            panic!("{name}")
        };
        // The server holds the rest of the answer until this call.
        server.release();
        let rest: Vec<_> = stream
            .map(|chunk| chunk.expect("the call works"))
            .collect()
            .await;
        assert_eq!(first + &said(&rest), "one two three four", "{name}");
    }
}
