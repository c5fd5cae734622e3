// Calls a server of workflows with the official MCP client: `mcp.mjs http URL`, or `mcp.mjs stdio PROGRAM ARG...`.

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [kind, target, ...args] = process.argv.slice(2);

async function connect(capabilities = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  const transport =
    kind === 'stdio'
      ? new StdioClientTransport({ command: target, args })
      : new StreamableHTTPClientTransport(new URL(`${target}/mcp`));
  await client.connect(transport);
  return client;
}

const text = (result) => result.content.map((block) => block.text).join('\n');

const client = await connect({ elicitation: { form: {} } });
const call = (name, input, options) => client.callTool({ name, arguments: input }, undefined, options);

// The answers of a person, and the questions so far.
let answers = [];
const asked = [];
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push(params);
  return answers.shift();
});

// The list has all workflows and tools with their schemas.
const { tools } = await client.listTools();
const tool = (name) => tools.find((tool) => tool.name === name);
assert.deepEqual(
  tools.map((tool) => tool.name).sort(),
  ['approval', 'counting', 'failing', 'hanging', 'measuring', 'pay', 'shouting', 'weather'],
);
assert.equal(tool('shouting').description, 'Shouts.');
assert.deepEqual(tool('shouting').inputSchema.required, ['topic']);
assert.equal(tool('shouting').inputSchema.properties.topic.description, 'The text to shout.');
assert.equal(tool('shouting').outputSchema, undefined);
assert.deepEqual(Object.keys(tool('measuring').outputSchema.properties), ['words', 'letters']);
assert.deepEqual(tool('weather').inputSchema.required, ['city']);
assert.equal(tool('weather').inputSchema.properties.city.description, 'Name of the city.');
assert.equal(tool('weather').inputSchema.properties.days.default, 1);

// A workflow, a workflow with structured output, and a tool.
const shouted = await call('shouting', { topic: 'cats', times: 2 });
assert.equal(text(shouted), 'CATS CATS');
assert.ok(!shouted.isError && shouted.structuredContent === undefined);
assert.match(shouted._meta['adk/run'], /^e-/);
const measured = await call('measuring', { text: 'a cat sat' });
assert.deepEqual(measured.structuredContent, { words: 3, letters: 7 });
assert.deepEqual(JSON.parse(text(measured)), measured.structuredContent);
assert.equal(text(await call('weather', { city: 'Bern' })), 'sunny in Bern in 1');

// An error is a result for the model: it names each field, or the fact and the remedy.
const wrong = await call('shouting', { times: 'two', more: 1 });
assert.ok(wrong.isError);
for (const field of ['topic', 'times', 'more']) assert.match(text(wrong), new RegExp(`\`${field}\``));
const unfit = await call('weather', { days: -1 });
assert.ok(unfit.isError);
for (const field of ['city', 'days']) assert.match(text(unfit), new RegExp(`\`${field}\``));
const failed = await call('failing', { topic: 'dogs' });
assert.ok(failed.isError);
assert.match(text(failed), /failing\/fails: cannot write about dogs\nhelp: ask for another/);
const lost = await call('weather', { city: 'Atlantis' });
assert.ok(lost.isError);
assert.match(text(lost), /there is no such city/);
await assert.rejects(call('nothing', {}), /there is no tool `nothing`/);

// Progress has one message for each event, with its step and round.
const told = [];
const counted = await call('counting', {}, { onprogress: (progress) => told.push(progress) });
assert.equal(text(counted), '3');
const messages = told.map(({ message }) => message);
for (const round of [1, 2, 3]) {
  assert.equal(messages.filter((message) => message.endsWith(`add, round ${round}`)).length, 1, `${messages}`);
}
assert.deepEqual(told.map(({ progress }) => progress), told.map((_, index) => index + 1));

// A question during a call: an enum with fields becomes a choice and the fields.
answers = [{ action: 'accept', content: { answer: 'Publish' } }];
assert.equal(text(await call('approval', { topic: 'cats' })), 'CATS CATS');
const form = asked[0].requestedSchema;
assert.equal(asked[0].message, 'May this be published? CATS CATS');
assert.deepEqual(form.properties.answer.enum, ['Publish', 'Revise']);
assert.equal(form.properties.note.description, 'The requested change.');
assert.deepEqual(form.required, ['answer']);
// After an invalid answer the server asks again.
answers = [
  { action: 'accept', content: { answer: 'Revise' } },
  { action: 'accept', content: { answer: 'Revise', note: 'shorter' } },
];
assert.equal(text(await call('approval', { topic: 'dogs' })), 'DOGS DOGS (shorter)');
assert.match(asked[2].message, /Error in the last answer.*note/s);
// The user has not answered, so the run waits.
for (const action of ['decline', 'cancel']) {
  answers = [{ action }];
  const waits = await call('approval', { topic: 'cows' });
  assert.ok(waits.isError);
  assert.match(text(waits), new RegExp(`The run \`${waits._meta['adk/run']}\` waits .*May this be published.*POST /v1/waiting/`, 's'));
}
// A tool that needs the confirmation of a person.
answers = [
  { action: 'accept', content: { answer: true } },
  { action: 'accept', content: { answer: false } },
];
assert.equal(text(await call('pay', { amount: 5 })), 'paid 5');
assert.match(asked.at(-1).message, /May the tool `pay` be called with \{"amount":5\}/);
const refused = await call('pay', { amount: 6 });
assert.ok(refused.isError);
assert.match(text(refused), /rejected/);

// Another user answers first, and the call continues.
if (kind === 'http') {
  answers = [new Promise(() => {})];
  const elsewhere = call('approval', { topic: 'bees' });
  let open = [];
  while (open.length === 0) {
    open = (await (await fetch(`${target}/v1/waiting`)).json()).waiting.filter(({ question }) => question.includes('BEES'));
  }
  const answer = { method: 'POST', body: JSON.stringify({ Revise: { note: 'by hand' } }) };
  assert.equal((await fetch(`${target}/v1/waiting/${open[0].id}`, answer)).status, 202);
  assert.equal(text(await elsewhere), 'BEES BEES (by hand)');
}

// Cancelling a call cancels its run.
const abort = new AbortController();
const begun = new Promise((resolve) => {
  const hanging = call('hanging', { topic: 'x' }, { signal: abort.signal, onprogress: resolve });
  hanging.catch(() => {});
});
await begun;
abort.abort('enough');
if (kind === 'http') {
  const { runs } = await (await fetch(`${target}/v1/runs?workflow=hanging`)).json();
  const events = await fetch(`${target}/v1/runs/${runs[0].run}/events`, { headers: { accept: 'text/event-stream' } });
  assert.match(await events.text(), /event: end\ndata: .*"status":"cancelled"/);
}
// The session is still usable.
assert.equal(text(await call('shouting', { topic: 'end' })), 'END');
await client.close();

// A client without forms gets an error that the run waits.
const deaf = await connect();
const waits = await deaf.callTool({ name: 'approval', arguments: { topic: 'owls' } });
assert.ok(waits.isError);
assert.match(text(waits), /waits for answers.*OWLS OWLS/s);
await deaf.close();
// Open keep-alive connections would keep the process alive.
process.exit();
