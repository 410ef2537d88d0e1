"""Which language a text is in, as far as its script tells."""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.text.caches import text_cache

_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_HANGUL: Final = re.compile(r"[\uac00-\ud7af]")
_LATIN: Final = re.compile(r"[A-Za-z]+")
MAX_LOOKED_AT: Final = 2_000


def detect(text: str) -> str:
    """`zh`, `en`, `ja`, `ko`, or `und` when no script decides.

    A Han character weighs as much as a Latin word, so "我用 Python" is Chinese and "我爱 you and me" is English.
    """
    return _script_of(text[:MAX_LOOKED_AT])


@text_cache(128)
def _script_of(head: str) -> str:
    """Kept for a few texts, since each is looked at several times."""
    if head.isascii():
        return "en" if _LATIN.search(head) else "und"
    han = sum(map(len, _HAN.findall(head)))
    if len(_KANA.findall(head)) > max(1, han // 4):
        return "ja"
    if len(_HANGUL.findall(head)) > han:
        return "ko"
    words = len(_LATIN.findall(head))
    if han and han >= words:
        return "zh"
    return "en" if words else "und"
