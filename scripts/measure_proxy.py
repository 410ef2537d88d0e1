"""What the proxy costs a chat: prints the figures of docs/proxy.md.

Run as `python scripts/measure_proxy.py [TURNS]`. It starts a service on a store of its own before an endpoint on this
machine, lets a chat grow by so many turns (25 unless given), and takes about half a minute. It says how long the first
byte of an answer takes, and what of that the service computed: from the endpoint itself, through the service without
memory, and with memory. What is remembered after an answer is not counted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psutil

from ebbing.testing.models.fake_llm import FakeLlm

FACTS = (
    "I live in Leeds, and I'm allergic to peanuts.",
    "My sister is called Ada. She works as a nurse in York.",
    "I like jazz, and I play the clarinet on Sundays.",
    "我下周三要去杭州出差，住在西湖边。",
)
TOPICS = ("what to cook", "a present for my sister", "a concert", "杭州的天气", "a book for the train")
WAYS = {"the endpoint itself": None, "through the proxy, memory off": "off", "through the proxy, with memory": "on"}


@contextmanager
def service(endpoint: str, folder: str) -> Iterator[tuple[str, psutil.Process]]:
    """Serve a store of its own, and give the address and the process."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}
    settings = {"EBBING_PATH": folder, "EBBING_PROXY_URL": endpoint, "EBBING_USER": "emma"}
    command = [sys.executable, "-m", "ebbing", "serve", "--port", "0"]
    server = subprocess.Popen(
        command, env={**usual, **settings}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert server.stdout is not None
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        yield address, psutil.Process(server.pid)
    finally:
        server.terminate()
        server.communicate(timeout=30)


def first_byte(client: httpx.Client, address: str, *, messages: list[dict[str, str]], memory: str | None) -> float:
    """Return after how many milliseconds an answer begins; it is read to its end."""
    headers = {"X-Ebbing-Memory": memory} if memory else {}
    body = {"model": "m", "stream": True, "messages": messages}
    begun = time.perf_counter()
    with client.stream("POST", f"{address}/chat/completions", json=body, headers=headers) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        took = 1_000 * (time.perf_counter() - begun)
        assert answer.status_code == 200
        assert memory is None or answer.headers["x-ebbing-memory"] in {memory, "used", "nothing"}
        for _ in pieces:
            continue
    return took


def computed(process: psutil.Process) -> float:
    """Return how many milliseconds a process has computed."""
    times = process.cpu_times()
    return 1_000 * float(times.user + times.system)


def main(turns: int) -> None:
    with (
        FakeLlm() as llm,
        tempfile.TemporaryDirectory() as folder,
        service(llm.url, folder) as (address, process),
        httpx.Client(timeout=60) as client,
    ):
        for fact in FACTS:
            client.post(f"{address}/v1/memories", json={"user_id": "emma", "text": fact}).raise_for_status()
        waits: dict[str, list[float]] = {way: [] for way in WAYS}
        works: dict[str, list[float]] = {way: [] for way in WAYS}
        messages: list[dict[str, str]] = []
        for turn in range(turns + 3):
            messages.append({"role": "user", "content": f"{TOPICS[turn % len(TOPICS)]}, question {turn}?"})
            for way, memory in WAYS.items():
                at = llm.url if memory is None else f"{address}/v1"
                before = computed(process)
                wait = first_byte(client, at, messages=messages, memory=memory)
                if turn >= 3:  # before that the models are loaded
                    waits[way].append(wait)
                    works[way].append(computed(process) - before)
            messages.append({"role": "assistant", "content": f"Answer {turn}."})
            time.sleep(0.4)  # what was said is being remembered
        print(f"{turns} turns; first byte in the median, computed by the service in the mean")
        for way in WAYS:
            wait, work = statistics.median(waits[way]), statistics.mean(works[way])
            print(f"{way:32} {wait:6.1f} ms, of it computed {work:5.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
