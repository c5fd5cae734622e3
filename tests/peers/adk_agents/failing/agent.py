"""The workflow `failing` of adk-web/tests/it/fixtures.rs."""

from google.adk.agents import BaseAgent, SequentialAgent


class Writer(BaseAgent):
    async def _run_async_impl(self, ctx):
        raise ValueError("cannot write")
        yield


root_agent = SequentialAgent(name="failing", description="Fails.", sub_agents=[Writer(name="writer")])
