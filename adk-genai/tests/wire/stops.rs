//! When a call is sent, and when its pieces are handed on.

use super::*;

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
