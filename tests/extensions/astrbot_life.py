"""Run by a Python with `astrbot`: its events and requests go through our plugin; what came of it is printed as JSON."""

import asyncio
import importlib
import json
import sys
from time import monotonic

from astrbot.api.event import AstrMessageEvent  # first: AstrBot's modules import each other in this order
from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
from astrbot.core.platform.message_type import MessageType
from astrbot.core.platform.platform_metadata import PlatformMetadata
from astrbot.core.provider.entities import LLMResponse, ProviderRequest
from astrbot.core.star.star_handler import EventType, star_handlers_registry

FOLDER, SETTINGS = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, FOLDER)
PLUGIN = importlib.import_module("data.plugins.astrbot_plugin_ebbing.main")


def event(text, sender, group=""):
    """Return what AstrBot makes of a message."""
    message = AstrBotMessage()
    message.type = MessageType.GROUP_MESSAGE if group else MessageType.FRIEND_MESSAGE
    message.self_id, message.session_id, message.message_id = "bot", group or sender, f"{group}{sender}{text}"
    message.sender = MessageMember(user_id=sender, nickname="小雨")
    message.message, message.message_str, message.raw_message = [], text, None
    if group:
        message.group = Group(group_id=group)
    platform = PlatformMetadata(name="aiocqhttp", description="", id="qq")
    return AstrMessageEvent(text, message, platform, group or sender)


async def hook(kind, plugin, *arguments):
    """Call what the plugin registered for a moment, as the pipeline does."""
    handlers = star_handlers_registry.get_handlers_by_event_type(kind, only_activated=False)
    assert len(handlers) == 1, handlers
    await handlers[0].handler(plugin, *arguments)


async def told(plugin, text, answer, sender, group="", **more):
    """Let a turn end."""
    response = LLMResponse("assistant", completion_text=answer, **more)
    await hook(EventType.OnLLMResponseEvent, plugin, event(text, sender, group), response)
    await asyncio.gather(*plugin._writing)


async def asked(plugin, text, sender, group=""):
    """Return the system prompt that a model gets."""
    request = ProviderRequest(prompt=text, system_prompt="你是助手。", contexts=[])
    await hook(EventType.OnLLMRequestEvent, plugin, event(text, sender, group), request)
    assert request.prompt == text
    assert request.contexts == []
    return request.system_prompt


async def life():
    """Tell one person's facts in private and in a group, and ask in other places and by others."""
    plugin = PLUGIN.EbbingMemory(None, SETTINGS)
    await told(plugin, "我对花生过敏。", "记住了。", "1001")
    await told(plugin, "我对芒果过敏。", "好的。", "1001", "888")
    called = {"tools_call_name": ["weather"], "tools_call_args": [{}], "tools_call_ids": ["1"]}
    await told(plugin, "我对小麦过敏。", "", "1001", **called)
    start = monotonic()
    private = await asked(plugin, "我能吃花生、芒果、小麦吗？", "1001")
    seconds = monotonic() - start
    shown = [result async for result in plugin.show(event("/记忆", "1001"))]
    return {
        "private": private,
        "seconds": seconds,
        "shown": shown[0].get_plain_text(),
        "group": await asked(plugin, "我能吃花生、芒果吗？", "1001", "888"),
        "other_group": await asked(plugin, "我能吃花生、芒果吗？", "1001", "999"),
        "other_sender": await asked(plugin, "我能吃花生、芒果吗？", "1002", "888"),
    }


print("\n" + json.dumps(asyncio.run(life())))
