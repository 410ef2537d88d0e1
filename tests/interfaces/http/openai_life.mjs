// What OpenAI's client for Node gets from an address: `node openai_life.mjs ADDRESS` prints it as JSON.
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'sk-tests', maxRetries: 0 });
const tools = [
  {
    type: 'function',
    function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];
const user = (text) => [{ role: 'user', content: text }];
const chats = client.chat.completions;
const gathered = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

const seen = { models: [] };
for await (const model of client.models.list()) seen.models.push(model);

const { data, response } = await chats
  .create({ model: 'echo', messages: user('I live in Leeds. 你好'), temperature: 0.1, x_own: [1.5] })
  .withResponse();
seen.whole = [data, response.headers.get('x-served-by')];

seen.stream = await gathered(
  await chats.create({ model: 'echo', messages: user("I'm allergic to peanuts."), stream: true }),
);

const messages = user('How is the weather?');
const called = (await chats.create({ model: 'tools', messages, tools })).choices[0].message;
messages.push(called, { role: 'tool', tool_call_id: called.tool_calls[0].id, content: 'It rains.' });
seen.tools = [called, await chats.create({ model: 'tools', messages, tools })];
seen.streamedTools = await gathered(
  await chats.create({ model: 'tools', messages: user('And now?'), tools, stream: true }),
);

try {
  await chats.create({ model: 'refuse', messages: user('Anything.') });
} catch (error) {
  seen.refusal = [error.constructor.name, error.status, error.code, error.type, error.message, error.requestID];
}

try {
  seen.broken = await gathered(await chats.create({ model: 'breaks', messages: user('Go.'), stream: true }));
} catch (error) {
  seen.broken = error.constructor.name;
}

const left = await chats.create({ model: 'endless', messages: user('Go on.'), stream: true });
for await (const chunk of left) {
  seen.left = chunk;
  break; // the client lets go of the connection
}

console.log(JSON.stringify(seen));
