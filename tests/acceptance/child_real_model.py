"""A process that asks a real language model; the tests themselves may reach this machine only.

Run as `python child_real_model.py BASE_URL MODEL` with the key, if there is one, on stdin; prints what the model made
of each conversation and of each pair of statements as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta

from ebbing.adapters.chat.openai_chat import OpenAIChatModel
from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.decide import decide_with_model
from ebbing.remember.llm.extract import extract_with_model

NOW = datetime(2024, 5, 1, tzinfo=UTC)

TALKS = {
    "name": ["Hi, my name is Desmond. I have a sister.", "Nice to meet you!", "Her name is Jesica. She has a dog."],
    "move": ["我上个月从北京搬到上海了", "上海怎么样？", "挺好的，就是老加班。对了，我不喜欢喝咖啡。"],
    "small talk": ["Hello! How are you?", "Fine, and you?", "What is the capital of France?"],
    "supposed": ["要是我中了彩票，我就买个岛。今天天气真好啊。"],
}
PAIRS = {
    "home": ("用户住在北京", "用户住在上海"),
    "pizza": ("User likes cheese pizza", "User loves cheese pizza"),
    "dislike": ("User loves cheese pizza", "User dislikes cheese pizza"),
    "latte": ("User likes coffee", "User has two children"),
}


async def asked(base_url: str, model_name: str, key: str) -> dict[str, object]:
    """What the model says."""
    model = OpenAIChatModel(base_url, model_name, api_key=key or None, timeout_seconds=300)
    asking = LlmOptions(model, timeout_seconds=300, budget_seconds=600)
    told: dict[str, object] = {}
    for name, texts in TALKS.items():
        talk = [Message(text, (Role.USER, Role.ASSISTANT)[at % 2]) for at, text in enumerate(texts)]
        found = await extract_with_model(asking, talk, now=NOW)
        failed = found.failed.reason if found.failed else None
        told[name] = {"facts": [fact.text for fact in found.facts], "failed": failed}
    for name, (known, new) in PAIRS.items():
        said = NOW - timedelta(days=30)
        memory = MemoryRecord("m", Scope("u"), known, created_at=said, recorded_at=said, role=Role.USER)
        done = await decide_with_model(asking, [Fact(new)], related=[[memory]], said_at=[NOW])
        told[name] = type(done.decisions[0]).__name__
    await model.aclose()
    return told


if __name__ == "__main__":
    print(json.dumps(asyncio.run(asked(sys.argv[1], sys.argv[2], sys.stdin.read().strip())), ensure_ascii=False))
