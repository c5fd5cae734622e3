"""The workflow `asking` of adk-web/tests/it/fixtures.rs."""

from google.adk.agents import BaseAgent, SequentialAgent
from google.adk.events import Event
from google.genai import types


class Asker(BaseAgent):
    async def _run_async_impl(self, ctx):
        answers = [part.function_response for part in ctx.user_content.parts or [] if part.function_response]
        if answers:
            part = types.Part(text=f"It is {answers[0].response['color']}.")
            asks = None
        else:
            part = types.Part(function_call=types.FunctionCall(id="call-1", name="ask_color", args={"of": "cats"}))
            asks = {"call-1"}
        yield Event(
            invocation_id=ctx.invocation_id, author=self.name, branch=ctx.branch,
            content=types.Content(role="model", parts=[part]), long_running_tool_ids=asks,
        )


root_agent = SequentialAgent(name="asking", description="Asks for a color.", sub_agents=[Asker(name="asker")])
