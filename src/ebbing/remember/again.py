"""Messages that the language model could not read when they came, read again and learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbing.domain.decision import Fact
from ebbing.domain.message import Message
from ebbing.domain.unread import Failed, Unread
from ebbing.privacy.guard import TrustTier
from ebbing.remember.add import Remembering, learn
from ebbing.remember.draft import Drafting
from ebbing.remember.heard import trust_of
from ebbing.remember.llm.reread import reread
from ebbing.remember.reading import Read
from ebbing.remember.repeats import Before
from ebbing.remember.screen import Screened
from ebbing.remember.worth import is_redacted, worth_keeping


async def read_again(using: Remembering, unread: Unread) -> Failed | None:
    """Reads kept messages and stores what they say; why the model failed again, or None.

    What is learnt counts as said when the message was: what is known since is not overruled.

    Raises:
        StoreError: it could not be stored.
    """
    now = using.clock.now()

    def rules(messages: Sequence[Message]) -> list[Fact]:
        own = [Screened(message, TrustTier.USER) for message in messages]
        return worth_keeping(own, now=now, agent_facts=unread.agent_facts, known=())

    again = await reread(using.store, unread, nominate=rules, asking=using.asking, now=now)
    extraction = again.extraction
    facts = tuple(fact for fact in extraction.facts if not is_redacted(fact))
    if facts:
        kept = [
            Screened(message, trust_of(episode))
            for message, episode in zip(again.messages, again.episodes, strict=True)
        ]
        drafting = Drafting(unread.scope, again.episodes[0].metadata, now=now, ids=using.ids)
        asking = using.asking if extraction.failed is None else None
        await learn(
            replace(using, mode=unread.mode),
            Read(facts, extraction.failed, asking),
            kept=kept,
            episodes=(),
            before=Before(evidence=tuple(episode.id for episode in again.episodes)),
            drafting=drafting,
        )
    return extraction.failed
