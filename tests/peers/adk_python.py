"""Runs one command of google-adk on a database, and prints JSON.

    adk_python.py URL read|append|make|list [SESSION]
"""

import asyncio
import json
import sys
import warnings

warnings.filterwarnings("ignore")

from google.adk.events import Event, EventActions
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

APP, USER = "app", "u"


def shown(session):
    return {
        "state": session.state,
        "events": [event.model_dump(exclude_none=True, mode="json") for event in session.events],
    }


def text(words, role="user"):
    return types.Content(role=role, parts=[types.Part(text=words)])


async def make(service, session):
    state = {"k": 1, "user:n": "Ann", "app:v": 2, "temp:x": 1, "none": None}
    made = await service.create_session(app_name=APP, user_id=USER, session_id=session, state=state)
    await service.append_event(made, Event(invocation_id="e-1", author="user", content=text("hi \u00fc")))
    parts = [
        types.Part(text="t", thought=True, thought_signature=b"\xff\xfe\x01"),
        types.Part(function_call=types.FunctionCall(id="adk-1", name="f", args={"camelKey": {"aB": 1}, "n": None})),
        types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\xff\xfe\x01\xfb", display_name="x")),
        types.Part(executable_code=types.ExecutableCode(code="1+1", language="PYTHON")),
        types.Part(file_data=types.FileData(file_uri="gs://a", mime_type="x/y")),
        types.Part(function_response=types.FunctionResponse(id="adk-1", name="f", response={"r": None}, will_continue=False)),
    ]
    actions = EventActions(
        state_delta={"user:n": "Bob", "temp:q": 1, "draft": {"b": 1, "a": None}},
        artifact_delta={"a.png": 2},
        escalate=False,
        skip_summarization=True,
        transfer_to_agent="z",
        transfer_reason="r",
        agent_state={"times_looped": 1},
        end_of_agent=True,
        route="x",
    )
    event = Event(
        id="no-uuid",
        invocation_id="e-1",
        author="critic",
        branch="p.a",
        turn_complete=True,
        content=types.Content(role="model", parts=parts),
        long_running_tool_ids={"adk-1"},
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3, candidates_token_count=4, total_token_count=7),
        finish_reason=types.FinishReason.STOP,
        custom_metadata={"someKey": {"inNer": 1}},
        grounding_metadata=types.GroundingMetadata(web_search_queries=["q"]),
        actions=actions,
    )
    await service.append_event(made, event)
    return shown(await service.get_session(app_name=APP, user_id=USER, session_id=session))


async def read(service, session):
    found = await service.get_session(app_name=APP, user_id=USER, session_id=session)
    last = await service.get_session(
        app_name=APP, user_id=USER, session_id=session, config=GetSessionConfig(num_recent_events=1)
    )
    assert [event.id for event in last.events] == [event.id for event in found.events][-1:]
    return shown(found)


async def append(service, session):
    found = await service.get_session(app_name=APP, user_id=USER, session_id=session)
    for n in range(2):
        delta = {"python": n, "user:python": n, "app:python": n}
        event = Event(invocation_id="e-py", author="python", content=text(f"python {n}", "model"), actions=EventActions(state_delta=delta))
        await service.append_event(found, event)
    return shown(found)


async def listed(service, _):
    found = await service.list_sessions(app_name=APP)
    return [[session.user_id, session.id, session.state] for session in found.sessions]


async def delete(service, session):
    await service.delete_session(app_name=APP, user_id=USER, session_id=session)
    return None


async def main():
    url, command, session = (sys.argv + ["s"])[1:4]
    service = DatabaseSessionService(url)
    commands = {"make": make, "read": read, "append": append, "list": listed, "delete": delete}
    print(json.dumps(await commands[command](service, session)))
    await service.close()


asyncio.run(main())
