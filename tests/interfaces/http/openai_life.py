"""What OpenAI's Python client gets from an address: `openai_life.py ADDRESS` prints it as JSON."""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="sk-tests", max_retries=0)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


def user(text):
    return [{"role": "user", "content": text}]


seen = {"models": [model.model_dump() for model in client.models.list()]}
chats = client.chat.completions

raw = chats.with_raw_response.create(
    model="echo", messages=user("I live in Leeds. 你好"), temperature=0.1, extra_body={"x_own": [1.5]}
)
seen["whole"] = [raw.parse().model_dump(), raw.headers["x-served-by"], raw.text]

stream = chats.create(model="echo", messages=user("I'm allergic to peanuts."), stream=True)
seen["stream"] = [chunk.model_dump() for chunk in stream]

messages = user("How is the weather?")
called = chats.create(model="tools", messages=messages, tools=TOOLS).choices[0].message
messages.append(called.model_dump(exclude_none=True))
messages.append({"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "It rains."})
answered = chats.create(model="tools", messages=messages, tools=TOOLS)
seen["tools"] = [called.model_dump(), answered.model_dump()]
stream = chats.create(model="tools", messages=user("And now?"), tools=TOOLS, stream=True)
seen["streamed tools"] = [chunk.model_dump() for chunk in stream]

try:
    chats.create(model="refuse", messages=user("Anything."))
except openai.RateLimitError as error:
    seen["refusal"] = [error.status_code, error.code, error.type, error.message, error.body, error.request_id]

try:
    seen["broken"] = [chunk.model_dump() for chunk in chats.create(model="breaks", messages=user("Go."), stream=True)]
except Exception as error:  # noqa: BLE001 - whatever the client raises is to be the same
    seen["broken"] = type(error).__name__

with chats.create(model="endless", messages=user("Go on."), stream=True) as stream:
    seen["left"] = next(iter(stream)).model_dump()

print(json.dumps(seen))
